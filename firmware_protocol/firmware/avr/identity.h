/* What the EEPROM keeps: who this device is, and how often it started. */
#ifndef GRID_IDENTITY_H
#define GRID_IDENTITY_H

#include <stdint.h>

/* Reads the uid and counts the start. A device without a uid makes itself one, which takes about a second. */
void identity_read(uint8_t uid[8], uint32_t *boot_id);

#endif
