/* The serial line: received and waiting bytes in rings, moved by interrupts, so that neither direction waits. */
#ifndef GRID_UART_H
#define GRID_UART_H

#include <stdbool.h>
#include <stdint.h>

void uart_start(uint32_t baud);

/* Whether the chip's clock gives this speed to within 2.5 %. */
bool uart_can(uint32_t baud);

/* Changes the speed when all that was written is out. */
void uart_set_baud(uint32_t baud);

/* The received bytes that stand in one piece, oldest first; they stay until they are taken. */
uint16_t uart_received(const uint8_t **bytes);
void uart_take(uint16_t count);

/* Received bytes that were lost, in the chip or for want of room. */
uint16_t uart_overruns(void);

/* Bytes that uart_write has room for. */
uint16_t uart_room(void);
void uart_write(const uint8_t *bytes, uint16_t count);

#endif
