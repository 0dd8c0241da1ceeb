#include "identity.h"

#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/wdt.h>
#include <string.h>
#include <util/atomic.h>

#include "frame.h"

/* Bytes 0 to 7 and 8 to 11 of the EEPROM; an erased one is all 0xff. */
static uint8_t *const UID = (uint8_t *)0;
static uint32_t *const BOOT_ID = (uint32_t *)8;

#define SAMPLES 64

static volatile bool barked;

ISR(WDT_vect)
{
    barked = true;
}

/* The watchdog has an oscillator of its own, and how it drifts against the quartz differs from chip to chip and from one
   time to the next. 64 of its ticks, 16 ms each, stand in `samples`. */
static void collect(uint8_t samples[SAMPLES])
{
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        wdt_reset();
        WDTCSR = _BV(WDCE) | _BV(WDE);
        WDTCSR = _BV(WDE) | _BV(WDIE);
    }
    for (uint8_t i = 0; i < SAMPLES; i++) {
        /* Its interrupt takes WDIE back: the next tick would be a reset. */
        barked = false;
        WDTCSR |= _BV(WDIE);
        wdt_reset();
        while (!barked)
            ;
        samples[i] = TCNT1L;
    }
    wdt_disable();
}

static void make_uid(uint8_t uid[8])
{
    uint8_t samples[SAMPLES];
    collect(samples);
    uint32_t first = grid_crc32(samples, SAMPLES / 2);
    uint32_t second = grid_crc32(samples + SAMPLES / 2, SAMPLES / 2);
    memcpy(uid, &first, sizeof first);
    memcpy(uid + 4, &second, sizeof second);
}

void identity_read(uint8_t uid[8], uint32_t *boot_id)
{
    static const uint8_t none[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    eeprom_read_block(uid, UID, sizeof none);
    if (!memcmp(uid, none, sizeof none)) {
        make_uid(uid);
        eeprom_update_block(uid, UID, sizeof none);
    }
    *boot_id = eeprom_read_dword(BOOT_ID) + 1;
    eeprom_update_dword(BOOT_ID, *boot_id);
}
