/* Decodes each vector's frame, compares every field, encodes it from its fields anew and puts that frame out: on this
   computer to standard output, on an AVR to the line. A vector that is not understood is left out. */
#include "frame.h"
#include "vectors.h"

#ifdef __AVR__
#include <avr/io.h>

static void start(void)
{
    UCSR0A = _BV(U2X0);
    UBRR0 = (F_CPU / 8 + GRID_BAUD / 2) / GRID_BAUD - 1;
    UCSR0B = _BV(TXEN0);
}

static void put(uint8_t byte)
{
    while (!(UCSR0A & _BV(UDRE0)))
        ;
    UDR0 = byte;
}
#else
#include <stdio.h>

static void start(void)
{
}

static void put(uint8_t byte)
{
    putchar(byte);
}
#endif

static uint8_t body[GRID_BODY_SIZE(GRID_MAX_PAYLOAD)];
static uint8_t frame[GRID_FRAME_SIZE(GRID_MAX_PAYLOAD)];

static bool understands(const struct grid_vector *vector)
{
    struct grid_decoder decoder;
    enum grid_decoded decoded = GRID_DECODED_NOTHING;
    uint16_t taken;
    grid_decoder_start(&decoder, body, sizeof body);
    for (uint8_t i = 0; i < vector->frame_size; i++)
        decoded = grid_decode(&decoder, vector->frame + i, 1, &taken);
    return decoded == GRID_DECODED_GOOD && decoder.size == GRID_BODY_SIZE(vector->payload_size) &&
           body[0] == vector->type && body[1] == vector->seq &&
           vector->check(body + GRID_HEAD_SIZE, frame + GRID_PAYLOAD_AT);
}

int main(void)
{
    start();
    for (uint8_t i = 0; i < sizeof grid_vectors / sizeof grid_vectors[0]; i++) {
        const struct grid_vector *vector = &grid_vectors[i];
        if (!understands(vector))
            continue;
        uint16_t size = grid_encode(frame, vector->type, vector->seq, vector->payload_size);
        for (uint16_t at = 0; at < size; at++)
            put(frame[at]);
    }
#ifdef __AVR__
    for (;;)
        ;
#else
    return 0;
#endif
}
