/* The sensors: a chain of 74HC165, eight cells a chip. */
#ifndef GRID_CHAIN_H
#define GRID_CHAIN_H

#include <stdint.h>

void chain_start(void);

/* Reads `chips` chips, the nearest first: its input A (D0) is bit 0, cell 0. A bit is 1 where the cell is occupied. */
void chain_read(uint8_t *bits, uint8_t chips);

#endif
