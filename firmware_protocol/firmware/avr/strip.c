#include "strip.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>
#include <util/delay.h>

#include "pins.h"

#if F_CPU != 16000000UL
#error "the pulses below are counted for 16 MHz"
#endif

/* The newer WS2812B take a pause of 280 us for the end. */
#define LATCH_US 300

void strip_start(void)
{
    LED_PORT &= ~_BV(LED_PIN);
    LED_DDR |= _BV(LED_PIN);
}

/* A 0 is high for 6 of 20 cycles (375 ns), a 1 for 11 (688 ns), which suits all kinds: WS2812B 400 and 800 ns, SK6812 300
   and 600 ns, 150 ns off at most. */
static inline void put_byte(uint8_t byte, uint8_t high, uint8_t low)
{
    uint8_t bit;
    __asm__ volatile("    ldi %[bit], 8\n"
                     "1:  out %[port], %[high]\n" /* cycle 0 */
                     "    rjmp .+0\n"
                     "    rjmp .+0\n"
                     "    sbrs %[byte], 7\n"
                     "    out %[port], %[low]\n" /* a 0: cycle 6 */
                     "    lsl %[byte]\n"
                     "    rjmp .+0\n"
                     "    nop\n"
                     "    out %[port], %[low]\n" /* a 1: cycle 11 */
                     "    rjmp .+0\n"
                     "    rjmp .+0\n"
                     "    nop\n"
                     "    dec %[bit]\n"
                     "    brne 1b\n"
                     : [bit] "=&d"(bit), [byte] "+r"(byte)
                     : [port] "I"(_SFR_IO_ADDR(LED_PORT)), [high] "r"(high), [low] "r"(low));
}

static inline uint8_t scaled(uint8_t level, uint16_t factor)
{
    return (uint8_t)(level * factor >> 8);
}

void strip_show(const uint8_t *rgb, uint16_t count, uint8_t step, uint8_t brightness)
{
    uint16_t factor = (uint16_t)brightness + 1;
    /* Whatever was sent last has to be over for the LEDs. */
    _delay_us(LATCH_US);
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        uint8_t high = LED_PORT | _BV(LED_PIN);
        uint8_t low = LED_PORT & ~_BV(LED_PIN);
        for (; count; count--, rgb += step) {
            put_byte(scaled(rgb[1], factor), high, low);
            put_byte(scaled(rgb[0], factor), high, low);
            put_byte(scaled(rgb[2], factor), high, low);
        }
    }
}
