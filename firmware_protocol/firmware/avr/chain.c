#include "chain.h"

#include <avr/io.h>

#include "pins.h"

/* Reed contacts to ground and open-collector hall sensors pull their input low. */
#if SENSORS_ACTIVE_LOW
#define INVERTED 0xff
#else
#define INVERTED 0x00
#endif

void chain_start(void)
{
    CHAIN_PORT |= _BV(LOAD_PIN);
    CHAIN_PORT &= ~_BV(CLOCK_PIN);
    CHAIN_DDR |= _BV(LOAD_PIN) | _BV(CLOCK_PIN);
}

static inline uint8_t shift_in(uint8_t byte)
{
    byte <<= 1;
    if (CHAIN_IN & _BV(DATA_PIN))
        byte |= 1;
    CHAIN_PORT |= _BV(CLOCK_PIN);
    CHAIN_PORT &= ~_BV(CLOCK_PIN);
    return byte;
}

void chain_read(uint8_t *bits, uint8_t chips)
{
    CHAIN_PORT &= ~_BV(LOAD_PIN);
    /* The inputs' way through a long chain's load line takes a moment. */
    __builtin_avr_delay_cycles(16);
    CHAIN_PORT |= _BV(LOAD_PIN);
    __builtin_avr_delay_cycles(4);
    for (; chips; chips--) {
        uint8_t byte = 0;
        byte = shift_in(byte);
        byte = shift_in(byte);
        byte = shift_in(byte);
        byte = shift_in(byte);
        byte = shift_in(byte);
        byte = shift_in(byte);
        byte = shift_in(byte);
        byte = shift_in(byte);
        *bits++ = byte ^ INVERTED;
    }
}
