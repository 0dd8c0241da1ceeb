/* Made by `python -m firmware_protocol.generate` from firmware_protocol/messages.py: do not edit. */
#ifndef GRID_MESSAGES_H
#define GRID_MESSAGES_H

#include <stdint.h>

#define GRID_PROTO 1UL
#define GRID_MAX_PAYLOAD 248UL
#define GRID_BAUD 115200UL
#define GRID_HELLO_MS 250UL
#define GRID_SILENCE_MS 5000UL
#define GRID_BAUD_TRIAL_MS 1000UL
#define GRID_HEARTBEAT_MS 500UL
#define GRID_DEBOUNCE_MS 20UL
#define GRID_PALETTE_COLOURS 16UL
#define GRID_GLOW_LEVEL 3UL

/* What a grid can show. */
enum grid_led_kind {
    GRID_LED_KIND_NONE = 0,
    GRID_LED_KIND_RGB = 1,
    GRID_LED_KIND_LEVELS = 2,
};

/* What tells a grid that a cell is occupied. */
enum grid_sensor_kind {
    GRID_SENSOR_KIND_NONE = 0,
    GRID_SENSOR_KIND_SWITCH = 1,
    GRID_SENSOR_KIND_REED = 2,
    GRID_SENSOR_KIND_HALL = 3,
    GRID_SENSOR_KIND_INFRARED = 4,
};

/* What else a host must know about a device. */
enum grid_flag {
    GRID_FLAG_SIMULATED = 1,
    GRID_FLAG_SHOW_BLOCKS_RX = 2,
};

/* How SET_RANGE packs its cells. */
enum grid_format {
    GRID_FORMAT_RGB = 0,
    GRID_FORMAT_PALETTE_8 = 1,
    GRID_FORMAT_PALETTE_4 = 2,
};

/* How a request ended. From 16 on it was refused and changed nothing. */
enum grid_status {
    GRID_STATUS_OK = 0,
    GRID_STATUS_REPEATED = 1,
    GRID_STATUS_UNSUPPORTED = 16,
    GRID_STATUS_BAD_LENGTH = 17,
    GRID_STATUS_BAD_VALUE = 18,
};

static inline uint16_t grid_read_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | (uint16_t)at[1] << 8);
}

static inline uint32_t grid_read_u32(const uint8_t *at)
{
    return grid_read_u16(at) | (uint32_t)grid_read_u16(at + 2) << 16;
}

static inline void grid_write_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void grid_write_u32(uint8_t *at, uint32_t value)
{
    grid_write_u16(at, (uint16_t)value);
    grid_write_u16(at + 2, (uint16_t)(value >> 16));
}

/* One cell's colour. */
#define GRID_CELL_COLOUR_SIZE 5

struct grid_cell_colour {
    uint16_t index; /* the cell, by the grid's own order */
    uint8_t red; /* 0 to 255 */
    uint8_t green; /* 0 to 255 */
    uint8_t blue; /* 0 to 255 */
};

static inline void grid_read_cell_colour(const uint8_t *at, struct grid_cell_colour *to)
{
    to->index = grid_read_u16(at + 0);
    to->red = at[2];
    to->green = at[3];
    to->blue = at[4];
}

static inline void grid_write_cell_colour(uint8_t *at, const struct grid_cell_colour *from)
{
    grid_write_u16(at + 0, from->index);
    at[2] = from->red;
    at[3] = from->green;
    at[4] = from->blue;
}

/* One palette entry. */
#define GRID_COLOUR_SIZE 3

struct grid_colour {
    uint8_t red; /* 0 to 255 */
    uint8_t green; /* 0 to 255 */
    uint8_t blue; /* 0 to 255 */
};

static inline void grid_read_colour(const uint8_t *at, struct grid_colour *to)
{
    to->red = at[0];
    to->green = at[1];
    to->blue = at[2];
}

static inline void grid_write_colour(uint8_t *at, const struct grid_colour *from)
{
    at[0] = from->red;
    at[1] = from->green;
    at[2] = from->blue;
}

/* Asks who is there; answered by INFO. Sent every 250 ms until it is answered. */
#define GRID_HELLO 0x01
#define GRID_HELLO_SIZE 2

struct grid_hello {
    uint8_t proto_min; /* the oldest protocol that the host speaks */
    uint8_t proto_max; /* the newest */
};

static inline void grid_read_hello(const uint8_t *at, struct grid_hello *to)
{
    to->proto_min = at[0];
    to->proto_max = at[1];
}

static inline void grid_write_hello(uint8_t *at, const struct grid_hello *from)
{
    at[0] = from->proto_min;
    at[1] = from->proto_max;
}

/* Sets the colours of single cells; seen at the next SHOW. */
#define GRID_SET_CELLS 0x02
#define GRID_SET_CELLS_SIZE 0 /* bytes before `cells` */

/* Sets the colours of cells that follow one another; seen at the next SHOW. */
#define GRID_SET_RANGE 0x03
#define GRID_SET_RANGE_SIZE 3 /* bytes before `data` */

struct grid_set_range {
    uint16_t first; /* the first cell */
    uint8_t format; /* how `data` is packed */
};

static inline void grid_read_set_range(const uint8_t *at, struct grid_set_range *to)
{
    to->first = grid_read_u16(at + 0);
    to->format = at[2];
}

static inline void grid_write_set_range(uint8_t *at, const struct grid_set_range *from)
{
    grid_write_u16(at + 0, from->first);
    at[2] = from->format;
}

/* Sets colours of the palette, which SET_RANGE may use; what is shown stays. */
#define GRID_PALETTE 0x04
#define GRID_PALETTE_SIZE 1 /* bytes before `colours` */
#define GRID_PALETTE_FIRST_MOST 15

struct grid_palette {
    uint8_t first; /* the first entry */
};

static inline void grid_read_palette(const uint8_t *at, struct grid_palette *to)
{
    to->first = at[0];
}

static inline void grid_write_palette(uint8_t *at, const struct grid_palette *from)
{
    at[0] = from->first;
}

/* Sets every cell to one colour; seen at the next SHOW. */
#define GRID_FILL 0x05
#define GRID_FILL_SIZE 3

struct grid_fill {
    uint8_t red; /* 0 to 255 */
    uint8_t green; /* 0 to 255 */
    uint8_t blue; /* 0 to 255 */
};

static inline void grid_read_fill(const uint8_t *at, struct grid_fill *to)
{
    to->red = at[0];
    to->green = at[1];
    to->blue = at[2];
}

static inline void grid_write_fill(uint8_t *at, const struct grid_fill *from)
{
    at[0] = from->red;
    at[1] = from->green;
    at[2] = from->blue;
}

/* Puts the cells' colours on the LEDs. Acknowledged when they are out: until then the host sends nothing. */
#define GRID_SHOW 0x06
#define GRID_SHOW_SIZE 0

/* Asks for all sensors; answered by BITMAP. */
#define GRID_SENSE 0x07
#define GRID_SENSE_SIZE 0

/* Sets how the device behaves until its next start. */
#define GRID_CONFIG 0x08
#define GRID_CONFIG_SIZE 5
#define GRID_CONFIG_DEBOUNCE_MS_LEAST 1
#define GRID_CONFIG_DEBOUNCE_MS_MOST 250
#define GRID_CONFIG_HEARTBEAT_MS_LEAST 100
#define GRID_CONFIG_HEARTBEAT_MS_MOST 10000
#define GRID_CONFIG_EVENTS_MOST 1

struct grid_config {
    uint8_t debounce_ms; /* so long a sensor must keep its new state */
    uint16_t heartbeat_ms; /* time between heartbeats */
    uint8_t brightness; /* scales all colours from the next SHOW on, 255 not at all; the cap on the current holds besides */
    uint8_t events; /* 1: changes are reported; 0: only SENSE tells */
};

static inline void grid_read_config(const uint8_t *at, struct grid_config *to)
{
    to->debounce_ms = at[0];
    to->heartbeat_ms = grid_read_u16(at + 1);
    to->brightness = at[3];
    to->events = at[4];
}

static inline void grid_write_config(uint8_t *at, const struct grid_config *from)
{
    at[0] = from->debounce_ms;
    grid_write_u16(at + 1, from->heartbeat_ms);
    at[3] = from->brightness;
    at[4] = from->events;
}

/* Changes the speed after the ACK. Without a good frame within 1 s the one before holds again. */
#define GRID_SET_BAUD 0x09
#define GRID_SET_BAUD_SIZE 4

struct grid_set_baud {
    uint32_t baud; /* bits a second, 8N1 */
};

static inline void grid_read_set_baud(const uint8_t *at, struct grid_set_baud *to)
{
    to->baud = grid_read_u32(at + 0);
}

static inline void grid_write_set_baud(uint8_t *at, const struct grid_set_baud *from)
{
    grid_write_u32(at + 0, from->baud);
}

/* Asks for an ACK, nothing else. */
#define GRID_PING 0x0a
#define GRID_PING_SIZE 0

/* Who answers HELLO, and what it can do. */
#define GRID_INFO 0x81
#define GRID_INFO_SIZE 26

struct grid_info {
    uint8_t proto; /* the protocol that the device speaks */
    uint8_t major; /* firmware version */
    uint8_t minor; /* firmware version */
    uint8_t patch; /* firmware version */
    uint8_t uid[8]; /* tells this device from every other */
    uint32_t boot_id; /* another one after each start */
    uint8_t rows; /* rows of cells */
    uint8_t columns; /* cells in a row */
    uint8_t led_kind; /* what the LEDs can show */
    uint8_t sensor_kind; /* what the sensors are */
    uint8_t max_payload; /* bytes of payload that a frame to the device may have */
    uint16_t rx_window; /* bytes that may be under way to the device, unacknowledged */
    uint16_t max_ma; /* current that the LEDs may draw in all, mA; brightness is capped by it */
    uint8_t flags; /* what else holds */
};

static inline void grid_read_info(const uint8_t *at, struct grid_info *to)
{
    to->proto = at[0];
    to->major = at[1];
    to->minor = at[2];
    to->patch = at[3];
    for (uint8_t i = 0; i < 8; i++)
        to->uid[i] = at[4 + i];
    to->boot_id = grid_read_u32(at + 12);
    to->rows = at[16];
    to->columns = at[17];
    to->led_kind = at[18];
    to->sensor_kind = at[19];
    to->max_payload = at[20];
    to->rx_window = grid_read_u16(at + 21);
    to->max_ma = grid_read_u16(at + 23);
    to->flags = at[25];
}

static inline void grid_write_info(uint8_t *at, const struct grid_info *from)
{
    at[0] = from->proto;
    at[1] = from->major;
    at[2] = from->minor;
    at[3] = from->patch;
    for (uint8_t i = 0; i < 8; i++)
        at[4 + i] = from->uid[i];
    grid_write_u32(at + 12, from->boot_id);
    at[16] = from->rows;
    at[17] = from->columns;
    at[18] = from->led_kind;
    at[19] = from->sensor_kind;
    at[20] = from->max_payload;
    grid_write_u16(at + 21, from->rx_window);
    grid_write_u16(at + 23, from->max_ma);
    at[25] = from->flags;
}

/* The request with this frame's sequence number is done. */
#define GRID_ACK 0x82
#define GRID_ACK_SIZE 1

struct grid_ack {
    uint8_t status; /* OK, or REPEATED: it was done before */
};

static inline void grid_read_ack(const uint8_t *at, struct grid_ack *to)
{
    to->status = at[0];
}

static inline void grid_write_ack(uint8_t *at, const struct grid_ack *from)
{
    at[0] = from->status;
}

/* The request with this frame's sequence number is refused and changed nothing. */
#define GRID_NAK 0x83
#define GRID_NAK_SIZE 1

struct grid_nak {
    uint8_t status; /* why */
};

static inline void grid_read_nak(const uint8_t *at, struct grid_nak *to)
{
    to->status = at[0];
}

static inline void grid_write_nak(uint8_t *at, const struct grid_nak *from)
{
    at[0] = from->status;
}

/* One sensor changed and kept its state for the debounce time. Not repeated: the heartbeat shows a lost one. */
#define GRID_EVENT 0x84
#define GRID_EVENT_SIZE 9
#define GRID_EVENT_OCCUPIED_MOST 1

struct grid_event {
    uint16_t event_seq; /* counts the events */
    uint32_t t_ms; /* the device's clock at the change */
    uint16_t index; /* the cell */
    uint8_t occupied; /* 1: the cell is occupied */
};

static inline void grid_read_event(const uint8_t *at, struct grid_event *to)
{
    to->event_seq = grid_read_u16(at + 0);
    to->t_ms = grid_read_u32(at + 2);
    to->index = grid_read_u16(at + 6);
    to->occupied = at[8];
}

static inline void grid_write_event(uint8_t *at, const struct grid_event *from)
{
    grid_write_u16(at + 0, from->event_seq);
    grid_write_u32(at + 2, from->t_ms);
    grid_write_u16(at + 6, from->index);
    at[8] = from->occupied;
}

/* All sensors at once. */
#define GRID_BITMAP 0x85
#define GRID_BITMAP_SIZE 2 /* bytes before `bits` */

struct grid_bitmap {
    uint16_t event_seq; /* the last event that is part of it */
};

static inline void grid_read_bitmap(const uint8_t *at, struct grid_bitmap *to)
{
    to->event_seq = grid_read_u16(at + 0);
}

static inline void grid_write_bitmap(uint8_t *at, const struct grid_bitmap *from)
{
    grid_write_u16(at + 0, from->event_seq);
}

/* Says that the device lives, and enough to notice whatever was missed. */
#define GRID_HEARTBEAT 0x86
#define GRID_HEARTBEAT_SIZE 18

struct grid_heartbeat {
    uint32_t uptime_ms; /* since its start */
    uint32_t boot_id; /* as in INFO; another one: it started anew */
    uint16_t event_seq; /* the last event */
    uint32_t occupancy_check; /* CRC-32 of the bitmap's bits */
    uint16_t bad_frames; /* received frames that failed their check */
    uint16_t overruns; /* received bytes that found no room */
};

static inline void grid_read_heartbeat(const uint8_t *at, struct grid_heartbeat *to)
{
    to->uptime_ms = grid_read_u32(at + 0);
    to->boot_id = grid_read_u32(at + 4);
    to->event_seq = grid_read_u16(at + 8);
    to->occupancy_check = grid_read_u32(at + 10);
    to->bad_frames = grid_read_u16(at + 14);
    to->overruns = grid_read_u16(at + 16);
}

static inline void grid_write_heartbeat(uint8_t *at, const struct grid_heartbeat *from)
{
    grid_write_u32(at + 0, from->uptime_ms);
    grid_write_u32(at + 4, from->boot_id);
    grid_write_u16(at + 8, from->event_seq);
    grid_write_u32(at + 10, from->occupancy_check);
    grid_write_u16(at + 14, from->bad_frames);
    grid_write_u16(at + 16, from->overruns);
}

#endif
