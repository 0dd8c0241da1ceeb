/* Which pins the LEDs and the sensor chain are on, how many bytes wait in either direction, and for how many cells the chip
   has room. The LEDs' port has to be one that `out` reaches (A to G on the ATmega2560): a store to any other takes a cycle
   more than the pulses allow. */
#ifndef GRID_PINS_H
#define GRID_PINS_H

#include <avr/io.h>

#if defined(__AVR_ATmega328P__)
/* Uno, Nano: LEDs D6; sensors load D8, clock D9, data D10. */
#define LED_PORT PORTD
#define LED_DDR DDRD
#define LED_PIN 6
#define CHAIN_PORT PORTB
#define CHAIN_DDR DDRB
#define CHAIN_IN PINB
#define LOAD_PIN 0
#define CLOCK_PIN 1
#define DATA_PIN 2
#define RX_RING 256
#define TX_RING 512
#define MOST_CELLS 100
#define RX_VECTOR USART_RX_vect
#define TX_VECTOR USART_UDRE_vect
#elif defined(__AVR_ATmega2560__)
/* Mega: LEDs D22; sensors load D23, clock D24, data D25. */
#define LED_PORT PORTA
#define LED_DDR DDRA
#define LED_PIN 0
#define CHAIN_PORT PORTA
#define CHAIN_DDR DDRA
#define CHAIN_IN PINA
#define LOAD_PIN 1
#define CLOCK_PIN 2
#define DATA_PIN 3
#define RX_RING 512
#define TX_RING 1024
#define MOST_CELLS 512
#define RX_VECTOR USART0_RX_vect
#define TX_VECTOR USART0_UDRE_vect
#else
#error "no pins are known for this microcontroller"
#endif

#endif
