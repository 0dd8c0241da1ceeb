/* Made by `python -m firmware_protocol.generate` from firmware_protocol/messages.py: do not edit. */
#ifndef GRID_VECTORS_H
#define GRID_VECTORS_H

#include <stdbool.h>
#include <string.h>

#include "messages.h"

static bool grid_check_hello(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_hello sent = {18U, 19U};
    struct grid_hello read;
    grid_read_hello(payload + 0, &read);
    if (read.proto_min != sent.proto_min ||
        read.proto_max != sent.proto_max)
        return false;
    grid_write_hello(written + 0, &sent);
    return true;
}

static bool grid_check_set_cells(const uint8_t *payload, uint8_t *written)
{
    {
        static const struct grid_cell_colour sent = {4882U, 20U, 21U, 22U};
        struct grid_cell_colour read;
        grid_read_cell_colour(payload + 0, &read);
        if (read.index != sent.index ||
        read.red != sent.red ||
        read.green != sent.green ||
        read.blue != sent.blue)
            return false;
        grid_write_cell_colour(written + 0, &sent);
    }
    {
        static const struct grid_cell_colour sent = {6167U, 25U, 26U, 27U};
        struct grid_cell_colour read;
        grid_read_cell_colour(payload + 5, &read);
        if (read.index != sent.index ||
        read.red != sent.red ||
        read.green != sent.green ||
        read.blue != sent.blue)
            return false;
        grid_write_cell_colour(written + 5, &sent);
    }
    return true;
}

static bool grid_check_set_range(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_set_range sent = {4882U, 2U};
    struct grid_set_range read;
    grid_read_set_range(payload + 0, &read);
    if (read.first != sent.first ||
        read.format != sent.format)
        return false;
    grid_write_set_range(written + 0, &sent);
    static const uint8_t data[] = {0x00, 0x14, 0x15, 0x16, 0x17, 0x18};
    if (memcmp(payload + 3, data, sizeof data) != 0)
        return false;
    memcpy(written + 3, data, sizeof data);
    return true;
}

static bool grid_check_palette(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_palette sent = {15U};
    struct grid_palette read;
    grid_read_palette(payload + 0, &read);
    if (read.first != sent.first)
        return false;
    grid_write_palette(written + 0, &sent);
    {
        static const struct grid_colour sent = {18U, 19U, 20U};
        struct grid_colour read;
        grid_read_colour(payload + 1, &read);
        if (read.red != sent.red ||
        read.green != sent.green ||
        read.blue != sent.blue)
            return false;
        grid_write_colour(written + 1, &sent);
    }
    {
        static const struct grid_colour sent = {21U, 22U, 23U};
        struct grid_colour read;
        grid_read_colour(payload + 4, &read);
        if (read.red != sent.red ||
        read.green != sent.green ||
        read.blue != sent.blue)
            return false;
        grid_write_colour(written + 4, &sent);
    }
    return true;
}

static bool grid_check_fill(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_fill sent = {18U, 19U, 20U};
    struct grid_fill read;
    grid_read_fill(payload + 0, &read);
    if (read.red != sent.red ||
        read.green != sent.green ||
        read.blue != sent.blue)
        return false;
    grid_write_fill(written + 0, &sent);
    return true;
}

static bool grid_check_show(const uint8_t *payload, uint8_t *written)
{
    (void)payload;
    (void)written;
    return true;
}

static bool grid_check_sense(const uint8_t *payload, uint8_t *written)
{
    (void)payload;
    (void)written;
    return true;
}

static bool grid_check_config(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_config sent = {250U, 10000U, 18U, 1U};
    struct grid_config read;
    grid_read_config(payload + 0, &read);
    if (read.debounce_ms != sent.debounce_ms ||
        read.heartbeat_ms != sent.heartbeat_ms ||
        read.brightness != sent.brightness ||
        read.events != sent.events)
        return false;
    grid_write_config(written + 0, &sent);
    return true;
}

static bool grid_check_set_baud(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_set_baud sent = {353637138U};
    struct grid_set_baud read;
    grid_read_set_baud(payload + 0, &read);
    if (read.baud != sent.baud)
        return false;
    grid_write_set_baud(written + 0, &sent);
    return true;
}

static bool grid_check_ping(const uint8_t *payload, uint8_t *written)
{
    (void)payload;
    (void)written;
    return true;
}

static bool grid_check_info(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_info sent = {18U, 19U, 20U, 21U, {0x00, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c}, 538910237U, 33U, 34U, 2U, 4U, 35U, 9508U, 10022U, 3U};
    struct grid_info read;
    grid_read_info(payload + 0, &read);
    if (read.proto != sent.proto ||
        read.major != sent.major ||
        read.minor != sent.minor ||
        read.patch != sent.patch ||
        memcmp(read.uid, sent.uid, sizeof sent.uid) != 0 ||
        read.boot_id != sent.boot_id ||
        read.rows != sent.rows ||
        read.columns != sent.columns ||
        read.led_kind != sent.led_kind ||
        read.sensor_kind != sent.sensor_kind ||
        read.max_payload != sent.max_payload ||
        read.rx_window != sent.rx_window ||
        read.max_ma != sent.max_ma ||
        read.flags != sent.flags)
        return false;
    grid_write_info(written + 0, &sent);
    return true;
}

static bool grid_check_ack(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_ack sent = {18U};
    struct grid_ack read;
    grid_read_ack(payload + 0, &read);
    if (read.status != sent.status)
        return false;
    grid_write_ack(written + 0, &sent);
    return true;
}

static bool grid_check_nak(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_nak sent = {18U};
    struct grid_nak read;
    grid_read_nak(payload + 0, &read);
    if (read.status != sent.status)
        return false;
    grid_write_nak(written + 0, &sent);
    return true;
}

static bool grid_check_event(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_event sent = {4882U, 387323156U, 6424U, 1U};
    struct grid_event read;
    grid_read_event(payload + 0, &read);
    if (read.event_seq != sent.event_seq ||
        read.t_ms != sent.t_ms ||
        read.index != sent.index ||
        read.occupied != sent.occupied)
        return false;
    grid_write_event(written + 0, &sent);
    return true;
}

static bool grid_check_bitmap(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_bitmap sent = {4882U};
    struct grid_bitmap read;
    grid_read_bitmap(payload + 0, &read);
    if (read.event_seq != sent.event_seq)
        return false;
    grid_write_bitmap(written + 0, &sent);
    static const uint8_t bits[] = {0x00, 0x14, 0x15, 0x16, 0x17, 0x18};
    if (memcmp(payload + 2, bits, sizeof bits) != 0)
        return false;
    memcpy(written + 2, bits, sizeof bits);
    return true;
}

static bool grid_check_heartbeat(const uint8_t *payload, uint8_t *written)
{
    static const struct grid_heartbeat sent = {353637138U, 421009174U, 6938U, 522067228U, 8480U, 8994U};
    struct grid_heartbeat read;
    grid_read_heartbeat(payload + 0, &read);
    if (read.uptime_ms != sent.uptime_ms ||
        read.boot_id != sent.boot_id ||
        read.event_seq != sent.event_seq ||
        read.occupancy_check != sent.occupancy_check ||
        read.bad_frames != sent.bad_frames ||
        read.overruns != sent.overruns)
        return false;
    grid_write_heartbeat(written + 0, &sent);
    return true;
}

static const uint8_t grid_frame_hello[] = {0x00, 0x09, 0x01, 0x11, 0x12, 0x13, 0x33, 0x40, 0x56, 0x78, 0x00};
static const uint8_t grid_frame_set_cells[] = {0x00, 0x11, 0x02, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x8e, 0x9e, 0xca, 0x38, 0x00};
static const uint8_t grid_frame_set_range[] = {0x00, 0x06, 0x03, 0x11, 0x12, 0x13, 0x02, 0x0a, 0x14, 0x15, 0x16, 0x17, 0x18, 0xc0, 0x25, 0x77, 0x21, 0x00};
static const uint8_t grid_frame_palette[] = {0x00, 0x0e, 0x04, 0x11, 0x0f, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x7f, 0xdb, 0x3f, 0xce, 0x00};
static const uint8_t grid_frame_fill[] = {0x00, 0x0a, 0x05, 0x11, 0x12, 0x13, 0x14, 0x66, 0xaa, 0xf0, 0x82, 0x00};
static const uint8_t grid_frame_show[] = {0x00, 0x07, 0x06, 0x11, 0x8b, 0x95, 0x33, 0x7d, 0x00};
static const uint8_t grid_frame_sense[] = {0x00, 0x07, 0x07, 0x11, 0xca, 0xa4, 0x28, 0x64, 0x00};
static const uint8_t grid_frame_config[] = {0x00, 0x0c, 0x08, 0x11, 0xfa, 0x10, 0x27, 0x12, 0x01, 0x64, 0x4f, 0x65, 0x06, 0x00};
static const uint8_t grid_frame_set_baud[] = {0x00, 0x0b, 0x09, 0x11, 0x12, 0x13, 0x14, 0x15, 0xda, 0xff, 0x4e, 0x6c, 0x00};
static const uint8_t grid_frame_ping[] = {0x00, 0x07, 0x0a, 0x11, 0x87, 0xda, 0x86, 0xd1, 0x00};
static const uint8_t grid_frame_info[] = {0x00, 0x07, 0x81, 0x11, 0x12, 0x13, 0x14, 0x15, 0x1a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x02, 0x04, 0x23, 0x24, 0x25, 0x26, 0x27, 0x03, 0x16, 0x86, 0xcd, 0x5d, 0x00};
static const uint8_t grid_frame_ack[] = {0x00, 0x08, 0x82, 0x11, 0x12, 0xa4, 0x44, 0x90, 0xbd, 0x00};
static const uint8_t grid_frame_nak[] = {0x00, 0x08, 0x83, 0x11, 0x12, 0x93, 0x2e, 0x52, 0xbc, 0x00};
static const uint8_t grid_frame_event[] = {0x00, 0x10, 0x84, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x01, 0xaf, 0x0c, 0x07, 0x08, 0x00};
static const uint8_t grid_frame_bitmap[] = {0x00, 0x05, 0x85, 0x11, 0x12, 0x13, 0x0a, 0x14, 0x15, 0x16, 0x17, 0x18, 0xe9, 0x19, 0x56, 0xcc, 0x00};
static const uint8_t grid_frame_heartbeat[] = {0x00, 0x19, 0x86, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x69, 0x2e, 0x43, 0xf2, 0x00};

static const struct grid_vector {
    uint8_t type, seq, payload_size, frame_size;
    const uint8_t *frame;
    /* False where a field was read wrongly. */
    bool (*check)(const uint8_t *payload, uint8_t *written);
} grid_vectors[16] = {
    {GRID_HELLO, 17, 2, sizeof grid_frame_hello, grid_frame_hello, grid_check_hello},
    {GRID_SET_CELLS, 17, 10, sizeof grid_frame_set_cells, grid_frame_set_cells, grid_check_set_cells},
    {GRID_SET_RANGE, 17, 9, sizeof grid_frame_set_range, grid_frame_set_range, grid_check_set_range},
    {GRID_PALETTE, 17, 7, sizeof grid_frame_palette, grid_frame_palette, grid_check_palette},
    {GRID_FILL, 17, 3, sizeof grid_frame_fill, grid_frame_fill, grid_check_fill},
    {GRID_SHOW, 17, 0, sizeof grid_frame_show, grid_frame_show, grid_check_show},
    {GRID_SENSE, 17, 0, sizeof grid_frame_sense, grid_frame_sense, grid_check_sense},
    {GRID_CONFIG, 17, 5, sizeof grid_frame_config, grid_frame_config, grid_check_config},
    {GRID_SET_BAUD, 17, 4, sizeof grid_frame_set_baud, grid_frame_set_baud, grid_check_set_baud},
    {GRID_PING, 17, 0, sizeof grid_frame_ping, grid_frame_ping, grid_check_ping},
    {GRID_INFO, 17, 26, sizeof grid_frame_info, grid_frame_info, grid_check_info},
    {GRID_ACK, 17, 1, sizeof grid_frame_ack, grid_frame_ack, grid_check_ack},
    {GRID_NAK, 17, 1, sizeof grid_frame_nak, grid_frame_nak, grid_check_nak},
    {GRID_EVENT, 17, 9, sizeof grid_frame_event, grid_frame_event, grid_check_event},
    {GRID_BITMAP, 17, 8, sizeof grid_frame_bitmap, grid_frame_bitmap, grid_check_bitmap},
    {GRID_HEARTBEAT, 17, 18, sizeof grid_frame_heartbeat, grid_frame_heartbeat, grid_check_heartbeat},
};

#endif
