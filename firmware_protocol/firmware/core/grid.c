#include "grid.h"

#include <string.h>

#define FIRMWARE_MAJOR 0
#define FIRMWARE_MINOR 1
#define FIRMWARE_PATCH 0

#define FROM_DEVICE 0x80

/* Encodes the frame round its payload and sends it. Where it finds no room it is dropped, as if the line had eaten it. */
static void send(struct grid *grid, uint8_t *frame, uint8_t type, uint8_t seq, uint8_t payload_size)
{
    uint16_t size = grid_encode(frame, type, seq, payload_size);
    if (grid->port->room(grid->port->board) >= size)
        grid->port->write(grid->port->board, frame, size);
}

static void send_info(struct grid *grid, uint8_t seq)
{
    uint8_t frame[GRID_FRAME_SIZE(GRID_INFO_SIZE)];
    struct grid_info info = {
        .proto = GRID_PROTO,
        .major = FIRMWARE_MAJOR,
        .minor = FIRMWARE_MINOR,
        .patch = FIRMWARE_PATCH,
        .boot_id = grid->boot_id,
        .rows = GRID_ROWS,
        .columns = GRID_COLUMNS,
        .led_kind = GRID_LED_KIND_RGB,
        .sensor_kind = GRID_SENSOR_KIND,
        .max_payload = GRID_RX_PAYLOAD,
        .rx_window = GRID_RX_WINDOW,
        .max_ma = GRID_MAX_MA,
        .flags = GRID_FLAGS,
    };
    memcpy(info.uid, grid->uid, sizeof info.uid);
    grid_write_info(frame + GRID_PAYLOAD_AT, &info);
    send(grid, frame, GRID_INFO, seq, GRID_INFO_SIZE);
}

static void send_bitmap(struct grid *grid, uint8_t seq)
{
    uint8_t frame[GRID_FRAME_SIZE(GRID_BITMAP_SIZE + GRID_BITMAP_BYTES)];
    struct grid_bitmap bitmap = {.event_seq = grid->event_seq};
    grid_write_bitmap(frame + GRID_PAYLOAD_AT, &bitmap);
    memcpy(frame + GRID_PAYLOAD_AT + GRID_BITMAP_SIZE, grid->occupied, GRID_BITMAP_BYTES);
    send(grid, frame, GRID_BITMAP, seq, GRID_BITMAP_SIZE + GRID_BITMAP_BYTES);
}

static void send_heartbeat(struct grid *grid)
{
    uint8_t frame[GRID_FRAME_SIZE(GRID_HEARTBEAT_SIZE)];
    struct grid_heartbeat heartbeat = {
        .uptime_ms = grid->polled_ms,
        .boot_id = grid->boot_id,
        .event_seq = grid->event_seq,
        .occupancy_check = grid_crc32(grid->occupied, GRID_BITMAP_BYTES),
        .bad_frames = grid->bad_frames,
        .overruns = grid->port->overruns(grid->port->board),
    };
    grid_write_heartbeat(frame + GRID_PAYLOAD_AT, &heartbeat);
    send(grid, frame, GRID_HEARTBEAT, 0, GRID_HEARTBEAT_SIZE);
}

static void send_event(struct grid *grid, uint16_t index, bool occupied, uint8_t ago_ms)
{
    uint8_t frame[GRID_FRAME_SIZE(GRID_EVENT_SIZE)];
    struct grid_event event = {
        .event_seq = ++grid->event_seq,
        .t_ms = grid->polled_ms - ago_ms,
        .index = index,
        .occupied = occupied,
    };
    grid_write_event(frame + GRID_PAYLOAD_AT, &event);
    send(grid, frame, GRID_EVENT, 0, GRID_EVENT_SIZE);
}

static void send_status(struct grid *grid, uint8_t seq, enum grid_status status)
{
    uint8_t frame[GRID_FRAME_SIZE(GRID_ACK_SIZE)];
    bool refused = status >= GRID_STATUS_UNSUPPORTED;
    frame[GRID_PAYLOAD_AT] = (uint8_t)status;
    send(grid, frame, refused ? GRID_NAK : GRID_ACK, seq, GRID_ACK_SIZE);
}

/* The configured brightness, or as much as keeps this sum of all levels within the current that is allowed. */
static uint8_t brightness_for(const struct grid *grid, uint32_t levels)
{
    const uint32_t allowed = (GRID_MAX_MA - GRID_CELLS * GRID_MA_PER_DARK_LED) * 255 / GRID_MA_PER_COLOUR;
    uint32_t factor = (uint32_t)grid->config.brightness + 1;
    if (levels * factor / 256 > allowed)
        factor = allowed * 256 / levels;
    return (uint8_t)(factor ? factor - 1 : 0);
}

static void show(struct grid *grid)
{
    uint32_t levels = 0;
    for (uint16_t i = 0; i < sizeof grid->colours; i++)
        levels += grid->colours[i];
    grid->port->show(grid->port->board, grid->colours, 3, brightness_for(grid, levels));
    grid->shown = true;
    grid->glowing = false;
}

static void glow(struct grid *grid)
{
    static const uint8_t rgb[3] = {0, 0, GRID_GLOW_LEVEL};
    grid->port->show(grid->port->board, rgb, 0, brightness_for(grid, GRID_GLOW_LEVEL * GRID_CELLS));
    grid->glowing = true;
}

static void set_colour(struct grid *grid, uint16_t index, const uint8_t *rgb)
{
    uint8_t *colour = grid->colours + 3 * index;
    colour[0] = rgb[0];
    colour[1] = rgb[1];
    colour[2] = rgb[2];
}

/* Each request below either does all that it asks or refuses and changes nothing. */

static enum grid_status set_cells(struct grid *grid, const uint8_t *cells, uint8_t size)
{
    struct grid_cell_colour cell;
    if (size % GRID_CELL_COLOUR_SIZE)
        return GRID_STATUS_BAD_LENGTH;
    for (uint8_t at = 0; at < size; at += GRID_CELL_COLOUR_SIZE) {
        grid_read_cell_colour(cells + at, &cell);
        if (cell.index >= GRID_CELLS)
            return GRID_STATUS_BAD_VALUE;
    }
    for (uint8_t at = 0; at < size; at += GRID_CELL_COLOUR_SIZE) {
        grid_read_cell_colour(cells + at, &cell);
        set_colour(grid, cell.index, cells + at + GRID_CELL_COLOUR_SIZE - GRID_COLOUR_SIZE);
    }
    return GRID_STATUS_OK;
}

static uint8_t palette_index(const uint8_t *data, uint8_t format, uint16_t i)
{
    if (format == GRID_FORMAT_PALETTE_8)
        return data[i];
    return i % 2 ? data[i / 2] >> 4 : data[i / 2] & 0x0f;
}

static enum grid_status set_range(struct grid *grid, const uint8_t *payload, uint8_t size)
{
    struct grid_set_range range;
    if (size < GRID_SET_RANGE_SIZE)
        return GRID_STATUS_BAD_LENGTH;
    grid_read_set_range(payload, &range);
    const uint8_t *data = payload + GRID_SET_RANGE_SIZE;
    uint16_t count = size - GRID_SET_RANGE_SIZE;
    if (range.format == GRID_FORMAT_RGB) {
        if (count % GRID_COLOUR_SIZE)
            return GRID_STATUS_BAD_LENGTH;
        count /= GRID_COLOUR_SIZE;
    } else if (range.format == GRID_FORMAT_PALETTE_4) {
        count *= 2;
        /* Two cells share a byte: the last half may have none. */
        if (range.first < GRID_CELLS && count == GRID_CELLS - range.first + 1)
            count--;
    } else if (range.format != GRID_FORMAT_PALETTE_8) {
        return GRID_STATUS_BAD_VALUE;
    }
    if (range.first > GRID_CELLS || count > GRID_CELLS - range.first)
        return GRID_STATUS_BAD_VALUE;
    if (range.format == GRID_FORMAT_RGB) {
        memcpy(grid->colours + 3 * range.first, data, 3 * count);
        return GRID_STATUS_OK;
    }
    for (uint16_t i = 0; i < count; i++)
        if (palette_index(data, range.format, i) >= GRID_PALETTE_COLOURS)
            return GRID_STATUS_BAD_VALUE;
    for (uint16_t i = 0; i < count; i++)
        set_colour(grid, range.first + i, grid->palette + 3 * palette_index(data, range.format, i));
    return GRID_STATUS_OK;
}

static enum grid_status set_palette(struct grid *grid, const uint8_t *payload, uint8_t size)
{
    struct grid_palette palette;
    if (size < GRID_PALETTE_SIZE || (size - GRID_PALETTE_SIZE) % GRID_COLOUR_SIZE)
        return GRID_STATUS_BAD_LENGTH;
    grid_read_palette(payload, &palette);
    size -= GRID_PALETTE_SIZE;
    if (palette.first > GRID_PALETTE_FIRST_MOST || palette.first + size / GRID_COLOUR_SIZE > (int)GRID_PALETTE_COLOURS)
        return GRID_STATUS_BAD_VALUE;
    memcpy(grid->palette + 3 * palette.first, payload + GRID_PALETTE_SIZE, size);
    return GRID_STATUS_OK;
}

static enum grid_status fill(struct grid *grid, const uint8_t *rgb, uint8_t size)
{
    if (size != GRID_FILL_SIZE)
        return GRID_STATUS_BAD_LENGTH;
    for (uint16_t index = 0; index < GRID_CELLS; index++)
        set_colour(grid, index, rgb);
    return GRID_STATUS_OK;
}

static enum grid_status configure(struct grid *grid, const uint8_t *payload, uint8_t size)
{
    struct grid_config config;
    if (size != GRID_CONFIG_SIZE)
        return GRID_STATUS_BAD_LENGTH;
    grid_read_config(payload, &config);
    if (config.debounce_ms < GRID_CONFIG_DEBOUNCE_MS_LEAST || config.debounce_ms > GRID_CONFIG_DEBOUNCE_MS_MOST ||
        config.heartbeat_ms < GRID_CONFIG_HEARTBEAT_MS_LEAST || config.heartbeat_ms > GRID_CONFIG_HEARTBEAT_MS_MOST ||
        config.events > GRID_CONFIG_EVENTS_MOST)
        return GRID_STATUS_BAD_VALUE;
    grid->config = config;
    return GRID_STATUS_OK;
}

/* Does the request, all but a change of speed, which has to wait for the ACK. */
static enum grid_status obey(struct grid *grid, uint8_t type, const uint8_t *payload, uint8_t size)
{
    switch (type) {
    case GRID_SET_CELLS:
        return set_cells(grid, payload, size);
    case GRID_SET_RANGE:
        return set_range(grid, payload, size);
    case GRID_PALETTE:
        return set_palette(grid, payload, size);
    case GRID_FILL:
        return fill(grid, payload, size);
    case GRID_SHOW:
        if (size != GRID_SHOW_SIZE)
            return GRID_STATUS_BAD_LENGTH;
        show(grid);
        return GRID_STATUS_OK;
    case GRID_CONFIG:
        return configure(grid, payload, size);
    case GRID_SET_BAUD:
        if (size != GRID_SET_BAUD_SIZE)
            return GRID_STATUS_BAD_LENGTH;
        return grid->port->can_baud(grid->port->board, grid_read_u32(payload)) ? GRID_STATUS_OK : GRID_STATUS_BAD_VALUE;
    case GRID_PING:
        return size == GRID_PING_SIZE ? GRID_STATUS_OK : GRID_STATUS_BAD_LENGTH;
    default:
        return GRID_STATUS_UNSUPPORTED;
    }
}

static void change_baud(struct grid *grid, uint32_t baud, bool on_trial)
{
    grid->port->set_baud(grid->port->board, baud);
    grid->baud_before = grid->baud;
    grid->baud = baud;
    grid->baud_on_trial = on_trial;
    grid->baud_set_ms = grid->port->now_ms(grid->port->board);
    /* Whoever repeats SET_BAUD after a fall-back means it anew. */
    if (!on_trial)
        grid->acknowledged = false;
}

static void answer(struct grid *grid, uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t size)
{
    if (type == GRID_HELLO && size == GRID_HELLO_SIZE) {
        grid->acknowledged = false;
        grid->shown = false;
        send_info(grid, seq);
    } else if (type == GRID_SENSE && size == GRID_SENSE_SIZE) {
        send_bitmap(grid, seq);
    } else if (type == GRID_HELLO || type == GRID_SENSE) {
        send_status(grid, seq, GRID_STATUS_BAD_LENGTH);
    } else {
        uint32_t check = grid_read_u32(payload + size);
        if (grid->acknowledged && check == grid->acknowledged_check) {
            send_status(grid, seq, GRID_STATUS_REPEATED);
            return;
        }
        enum grid_status status = obey(grid, type, payload, size);
        send_status(grid, seq, status);
        if (status != GRID_STATUS_OK)
            return;
        grid->acknowledged = true;
        grid->acknowledged_check = check;
        if (type == GRID_SET_BAUD)
            change_baud(grid, grid_read_u32(payload), true);
    }
}

static void hear(struct grid *grid)
{
    uint8_t type = grid->body[0];
    /* Its own frame, come back over a looped wire: answers would go round for ever. */
    if (type >= FROM_DEVICE)
        return;
    grid->heard_ms = grid->port->now_ms(grid->port->board);
    grid->baud_on_trial = false;
    if (grid->glowing && grid->shown && type != GRID_HELLO && type != GRID_SHOW)
        show(grid);
    answer(grid, type, grid->body[1], grid->body + GRID_HEAD_SIZE, grid->decoder.size - GRID_BODY_SIZE(0));
}

uint16_t grid_receive(struct grid *grid, const uint8_t *bytes, uint16_t count)
{
    uint16_t taken;
    enum grid_decoded decoded = grid_decode(&grid->decoder, bytes, count, &taken);
    if (decoded == GRID_DECODED_GOOD)
        hear(grid);
    else if (decoded == GRID_DECODED_BAD)
        grid->bad_frames++;
    return taken;
}

static void read_sensors(struct grid *grid, uint8_t *bits)
{
    if (GRID_SENSOR_KIND == GRID_SENSOR_KIND_NONE) {
        memset(bits, 0, GRID_BITMAP_BYTES);
        return;
    }
    grid->port->scan(grid->port->board, bits);
    if (GRID_CELLS % 8)
        bits[GRID_BITMAP_BYTES - 1] &= (1 << GRID_CELLS % 8) - 1;
}

/* False where the event finds no room yet: it is then tried again, so that none is lost here. */
static bool report_change(struct grid *grid, uint16_t index, bool occupied)
{
    if (grid->config.events) {
        if (grid->port->room(grid->port->board) < GRID_FRAME_SIZE(GRID_EVENT_SIZE) + GRID_ROOM_FOR_ANSWERS)
            return false;
        send_event(grid, index, occupied, grid->changing_ms[index]);
    }
    return true;
}

static void debounce(struct grid *grid, uint32_t passed_ms)
{
    uint8_t bits[GRID_BITMAP_BYTES];
    read_sensors(grid, bits);
    for (uint8_t byte = 0; byte < GRID_BITMAP_BYTES; byte++) {
        uint8_t differs = bits[byte] ^ grid->occupied[byte];
        uint8_t began = differs & ~grid->changing[byte];
        uint8_t goes_on = differs & grid->changing[byte];
        grid->changing[byte] = differs;
        for (uint8_t bit = 0; differs; bit++, differs >>= 1, began >>= 1, goes_on >>= 1) {
            uint16_t index = (uint16_t)(8 * byte + bit);
            uint8_t mask = (uint8_t)(1 << bit);
            if (began & 1)
                grid->changing_ms[index] = 0;
            if (!(goes_on & 1))
                continue;
            uint32_t changing_ms = grid->changing_ms[index] + passed_ms;
            grid->changing_ms[index] = changing_ms < 255 ? (uint8_t)changing_ms : 255;
            if (changing_ms >= grid->config.debounce_ms && report_change(grid, index, bits[byte] & mask)) {
                grid->occupied[byte] ^= mask;
                grid->changing[byte] &= (uint8_t)~mask;
            }
        }
    }
}

void grid_poll(struct grid *grid)
{
    uint32_t now_ms = grid->port->now_ms(grid->port->board);
    uint32_t passed_ms = now_ms - grid->polled_ms;
    if (passed_ms == 0)
        return;
    grid->polled_ms = now_ms;
    debounce(grid, passed_ms);
    if (now_ms - grid->heartbeat_ms >= grid->config.heartbeat_ms) {
        grid->heartbeat_ms = now_ms;
        send_heartbeat(grid);
    }
    if (grid->baud_on_trial && now_ms - grid->baud_set_ms >= GRID_BAUD_TRIAL_MS)
        change_baud(grid, grid->baud_before, false);
    if (!grid->glowing && now_ms - grid->heard_ms >= GRID_SILENCE_MS)
        glow(grid);
    if (grid->baud != GRID_BAUD && now_ms - grid->heard_ms >= GRID_SILENCE_MS)
        change_baud(grid, GRID_BAUD, false);
}

void grid_start(struct grid *grid, const struct grid_port *port, const uint8_t uid[8], uint32_t boot_id)
{
    memset(grid, 0, sizeof *grid);
    grid->port = port;
    memcpy(grid->uid, uid, sizeof grid->uid);
    grid->boot_id = boot_id;
    grid_decoder_start(&grid->decoder, grid->body, sizeof grid->body);
    grid->config.debounce_ms = GRID_DEBOUNCE_MS;
    grid->config.heartbeat_ms = GRID_HEARTBEAT_MS;
    grid->config.brightness = 255;
    grid->config.events = 1;
    grid->baud = grid->baud_before = GRID_BAUD;
    grid->polled_ms = grid->heard_ms = grid->heartbeat_ms = port->now_ms(port->board);
    read_sensors(grid, grid->occupied);
    glow(grid);
}
