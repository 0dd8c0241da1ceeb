#include "uart.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "pins.h"

static uint8_t received[RX_RING];
static uint8_t *volatile received_head = received;
static uint8_t *received_tail = received;
static volatile uint16_t overruns;

static uint8_t waiting[TX_RING];
static volatile uint16_t waiting_head;
static volatile uint16_t waiting_tail;
static bool ever_sent;

/* At 1 Mbaud a byte comes every 160 cycles, and the chip keeps two: this must stay short. */
ISR(RX_VECTOR)
{
    bool lost = UCSR0A & _BV(DOR0);
    uint8_t *head = received_head;
    *head = UDR0;
    if (++head == received + RX_RING)
        head = received;
    if (head == received_tail)
        lost = true;
    else
        received_head = head;
    if (lost)
        overruns++;
}

ISR(TX_VECTOR)
{
    uint16_t tail = waiting_tail;
    UDR0 = waiting[tail];
    /* TXC0, from the byte before, must not be taken for the end of this one. */
    UCSR0A = _BV(U2X0) | _BV(TXC0);
    tail = (tail + 1) & (TX_RING - 1);
    waiting_tail = tail;
    if (tail == waiting_head)
        UCSR0B &= ~_BV(UDRIE0);
}

static uint16_t divisor_of(uint32_t baud)
{
    return (uint16_t)((F_CPU / 8 + baud / 2) / baud);
}

bool uart_can(uint32_t baud)
{
    if (baud < 1200 || baud > F_CPU / 8)
        return false;
    uint32_t given = F_CPU / 8 / divisor_of(baud);
    uint32_t error = given > baud ? given - baud : baud - given;
    return error * 40 <= baud;
}

static void use_baud(uint32_t baud)
{
    UBRR0 = divisor_of(baud) - 1;
}

void uart_start(uint32_t baud)
{
    UCSR0A = _BV(U2X0);
    use_baud(baud);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

void uart_set_baud(uint32_t baud)
{
    while (uart_room() != TX_RING - 1)
        ;
    while (ever_sent && !(UCSR0A & _BV(TXC0)))
        ;
    use_baud(baud);
}

uint16_t uart_received(const uint8_t **bytes)
{
    const uint8_t *head;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        head = received_head;
    }
    *bytes = received_tail;
    return (head >= received_tail ? head : received + RX_RING) - received_tail;
}

void uart_take(uint16_t count)
{
    uint8_t *tail = received_tail + count;
    if (tail == received + RX_RING)
        tail = received;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        received_tail = tail;
    }
}

uint16_t uart_overruns(void)
{
    uint16_t count;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        count = overruns;
    }
    return count;
}

uint16_t uart_room(void)
{
    uint16_t tail;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        tail = waiting_tail;
    }
    return (tail - waiting_head - 1) & (TX_RING - 1);
}

void uart_write(const uint8_t *bytes, uint16_t count)
{
    uint16_t head = waiting_head;
    for (; count; count--) {
        waiting[head] = *bytes++;
        head = (head + 1) & (TX_RING - 1);
    }
    ever_sent = true;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        waiting_head = head;
        UCSR0B |= _BV(UDRIE0);
    }
}
