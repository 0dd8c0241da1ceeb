/* The LEDs: a chain of WS2812 or SK6812. */
#ifndef GRID_STRIP_H
#define GRID_STRIP_H

#include <stdint.h>

void strip_start(void);

/* Writes `count` LEDs from red, green and blue, `step` bytes from one to the next, each level as
   level * (brightness + 1) / 256. Interrupts are off meanwhile: 33 us for each LED. */
void strip_show(const uint8_t *rgb, uint16_t count, uint8_t step, uint8_t brightness);

#endif
