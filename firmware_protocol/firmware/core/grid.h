/* The device's part of the protocol: what it answers, and what it does by itself. Knows no hardware: the port hands it
   bytes and calls `grid_poll`, and does what it asks through the callbacks. Allocates nothing. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "messages.h"

/* Build settings, see docs/hardware.md. */
#ifndef GRID_ROWS
#error "GRID_ROWS: rows of cells, 1 to 255"
#endif
#ifndef GRID_COLUMNS
#error "GRID_COLUMNS: cells in a row, 1 to 255"
#endif
#ifndef GRID_MAX_MA
#error "GRID_MAX_MA: current in mA that all LEDs may draw together, up to 65535"
#endif
#ifndef GRID_SENSOR_KIND
#error "GRID_SENSOR_KIND: one of enum grid_sensor_kind"
#endif
#ifndef GRID_FLAGS
#error "GRID_FLAGS: any of enum grid_flag"
#endif
#ifndef GRID_RX_PAYLOAD
#error "GRID_RX_PAYLOAD: bytes of payload that a frame to the device may have, up to 248"
#endif
#ifndef GRID_RX_WINDOW
#error "GRID_RX_WINDOW: bytes that the port can keep until grid_receive takes them"
#endif

#define GRID_CELLS (GRID_ROWS * GRID_COLUMNS)
#define GRID_BITMAP_BYTES ((GRID_CELLS + 7) / 8)

#if GRID_BITMAP_SIZE + GRID_BITMAP_BYTES > GRID_MAX_PAYLOAD
#error "so many cells have no room in a BITMAP"
#endif
#if GRID_RX_PAYLOAD > GRID_MAX_PAYLOAD
#error "GRID_RX_PAYLOAD is more than a frame can have"
#endif
#if GRID_RX_WINDOW < GRID_FRAME_SIZE(GRID_RX_PAYLOAD)
#error "GRID_RX_WINDOW is less than one frame"
#endif

/* Events leave room for an ACK of each of the smallest frames that a window holds, which may share a zero. */
#define GRID_ROOM_FOR_ANSWERS (GRID_RX_WINDOW / (GRID_FRAME_SIZE(0) - 1) * GRID_FRAME_SIZE(GRID_ACK_SIZE))

/* A WS2812 draws 20 mA for each colour at its full level, and 1 mA when it is dark. */
#define GRID_MA_PER_COLOUR 20UL
#define GRID_MA_PER_DARK_LED 1UL
#if GRID_MAX_MA <= GRID_CELLS * GRID_MA_PER_DARK_LED
#error "GRID_MAX_MA is less than the LEDs draw when they are dark"
#endif

/* What the core asks of the hardware; `board` is handed through. */
struct grid_port {
    void *board;
    /* Milliseconds since the start. */
    uint32_t (*now_ms)(void *board);
    /* Bytes that `write` has room for now. */
    uint16_t (*room)(void *board);
    /* Begins to send a frame; returns before it is out. Called with no more bytes than there is room for. */
    void (*write)(void *board, const uint8_t *bytes, uint16_t count);
    /* Received bytes that were lost on the way to grid_receive, since the start. */
    uint16_t (*overruns)(void *board);
    /* Whether the line can run at this speed. */
    bool (*can_baud)(void *board, uint32_t baud);
    /* Changes the speed when all that was written is out. */
    void (*set_baud)(void *board, uint32_t baud);
    /* Reads all sensors: bit i % 8 of byte i / 8 is set where cell i is occupied. */
    void (*scan)(void *board, uint8_t *bits);
    /* Puts red, green and blue of every cell on the LEDs, `step` bytes from one cell to the next, each level as
       level * (brightness + 1) / 256; returns when they are out. */
    void (*show)(void *board, const uint8_t *rgb, uint8_t step, uint8_t brightness);
};

struct grid {
    const struct grid_port *port;
    uint8_t uid[8];
    uint32_t boot_id;

    struct grid_decoder decoder;
    uint8_t body[GRID_BODY_SIZE(GRID_RX_PAYLOAD)];
    uint16_t bad_frames;
    bool acknowledged;           /* a request was, since the last HELLO; */
    uint32_t acknowledged_check; /* its frame's check tells whether it comes again */

    struct grid_config config;
    uint8_t colours[3 * GRID_CELLS];
    uint8_t palette[3 * GRID_PALETTE_COLOURS];
    bool shown;   /* since the last HELLO */
    bool glowing; /* as the host is silent */

    uint8_t occupied[GRID_BITMAP_BYTES];
    uint8_t changing[GRID_BITMAP_BYTES]; /* the sensor says otherwise than `occupied` */
    uint8_t changing_ms[GRID_CELLS];     /* for so long, at most 255 */
    uint16_t event_seq;

    uint32_t polled_ms, heard_ms, heartbeat_ms;
    uint32_t baud, baud_before, baud_set_ms;
    bool baud_on_trial;
};

/* Reads the sensors and lets the LEDs glow. */
void grid_start(struct grid *grid, const struct grid_port *port, const uint8_t uid[8], uint32_t boot_id);

/* Takes received bytes, in pieces of any size, up to the end of the first frame among them, and answers that. Returns how
   many it took: where an ACK tells the host that there is room, the frame's bytes have to be gone before the next frame is
   looked at. */
uint16_t grid_receive(struct grid *grid, const uint8_t *bytes, uint16_t count);

/* Does what is due; to be called at least every millisecond, as far as SHOW lets it. */
void grid_poll(struct grid *grid);

#endif
