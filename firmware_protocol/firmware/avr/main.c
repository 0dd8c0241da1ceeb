/* The grid on an ATmega328P or ATmega2560 at 16 MHz: the core, joined to line, LEDs, sensors and clock. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

#include "chain.h"
#include "grid.h"
#include "identity.h"
#include "pins.h"
#include "strip.h"
#include "uart.h"

#if GRID_CELLS > MOST_CELLS
#error "GRID_ROWS * GRID_COLUMNS is more than this chip has room for"
#endif
#if GRID_RX_WINDOW >= RX_RING
#error "GRID_RX_WINDOW is more than the receiver keeps"
#endif
#if GRID_ROOM_FOR_ANSWERS + GRID_FRAME_SIZE(GRID_EVENT_SIZE) >= TX_RING
#error "beside all answers no event would find room"
#endif

/* Timer 1 runs through all by itself and needs no interrupt that could delay the line's. Timer 0 only wakes the chip. */
#define TICKS_PER_MS (F_CPU / 64 / 1000)

EMPTY_INTERRUPT(TIMER0_COMPA_vect)

static struct grid grid;

static void clock_start(void)
{
    TCCR1B = _BV(CS11) | _BV(CS10);
    OCR0A = TICKS_PER_MS - 1;
    TCCR0A = _BV(WGM01);
    TCCR0B = _BV(CS01) | _BV(CS00);
    TIMSK0 = _BV(OCIE0A);
}

/* Has to be called every 262 ms at least, before the timer comes round. */
static uint32_t now_ms(void *board)
{
    static uint32_t ms;
    static uint16_t counted;
    (void)board;
    for (uint16_t since = TCNT1 - counted; since >= TICKS_PER_MS; since -= TICKS_PER_MS) {
        counted += TICKS_PER_MS;
        ms++;
    }
    return ms;
}

static uint16_t room(void *board)
{
    (void)board;
    return uart_room();
}

static void write(void *board, const uint8_t *bytes, uint16_t count)
{
    (void)board;
    uart_write(bytes, count);
}

static uint16_t overruns(void *board)
{
    (void)board;
    return uart_overruns();
}

static bool can_baud(void *board, uint32_t baud)
{
    (void)board;
    return uart_can(baud);
}

static void set_baud(void *board, uint32_t baud)
{
    (void)board;
    uart_set_baud(baud);
}

static void scan(void *board, uint8_t *bits)
{
    (void)board;
    chain_read(bits, GRID_BITMAP_BYTES);
}

static void show(void *board, const uint8_t *rgb, uint8_t step, uint8_t brightness)
{
    (void)board;
    strip_show(rgb, GRID_CELLS, step, brightness);
}

/* Sleeps until a byte comes or a millisecond has passed. The instruction after `sei` is still undisturbed, so no byte can
   come in between unseen. */
static void rest(void)
{
    const uint8_t *bytes;
    cli();
    if (uart_received(&bytes) == 0) {
        sleep_enable();
        sei();
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

int main(void)
{
    static const struct grid_port port = {
        .now_ms = now_ms,
        .room = room,
        .write = write,
        .overruns = overruns,
        .can_baud = can_baud,
        .set_baud = set_baud,
        .scan = scan,
        .show = show,
    };
    uint8_t uid[8];
    uint32_t boot_id;
    /* After a reset by the watchdog it would still run. */
    MCUSR = 0;
    wdt_disable();
    clock_start();
    strip_start();
    chain_start();
    sei();
    identity_read(uid, &boot_id);
    uart_start(GRID_BAUD);
    grid_start(&grid, &port, uid, boot_id);
    for (;;) {
        const uint8_t *bytes;
        uint16_t count = uart_received(&bytes);
        if (count)
            uart_take(grid_receive(&grid, bytes, count));
        grid_poll(&grid);
        rest();
    }
}
