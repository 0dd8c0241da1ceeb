#include "frame.h"

#include "crc32_table.h"

#define CHECK_SIZE 4
/* What CRC-32 gives over any bytes with their own check, low byte first, behind them. */
#define CHECK_RESIDUE 0x2144df1cUL

uint32_t grid_crc32(const uint8_t *bytes, uint16_t count)
{
    uint32_t crc = 0xffffffffUL;
    while (count--)
        crc = grid_crc32_entry((uint8_t)(crc ^ *bytes++)) ^ crc >> 8;
    return ~crc;
}

uint16_t grid_encode(uint8_t *frame, uint8_t type, uint8_t seq, uint8_t payload_size)
{
    uint8_t *body = frame + 2;
    uint8_t *end = body + GRID_HEAD_SIZE + payload_size;
    body[0] = type;
    body[1] = seq;
    uint32_t check = grid_crc32(body, (uint16_t)(end - body));
    for (uint8_t i = 0; i < CHECK_SIZE; i++, check >>= 8)
        *end++ = (uint8_t)check;
    *end = 0;

    /* The body has at most 254 bytes, so each zero simply becomes the distance to the next. */
    frame[0] = 0;
    uint8_t *code = frame + 1;
    for (uint8_t *at = body;; at++) {
        if (*at == 0) {
            *code = (uint8_t)(at - code);
            code = at;
            if (at == end)
                return (uint16_t)(end + 1 - frame);
        }
    }
}

static void restart(struct grid_decoder *decoder)
{
    decoder->size = 0;
    decoder->left = 0;
    decoder->zero_follows = false;
    decoder->begun = false;
    decoder->broken = false;
}

void grid_decoder_start(struct grid_decoder *decoder, uint8_t *body, uint8_t room)
{
    decoder->body = body;
    decoder->room = room;
    restart(decoder);
}

static bool is_good(const struct grid_decoder *decoder)
{
    return !decoder->broken && decoder->left == 0 && decoder->size >= GRID_BODY_SIZE(0) &&
           grid_crc32(decoder->body, decoder->size) == CHECK_RESIDUE;
}

/* Begins a COBS block, and puts the zero that the one before stands for. */
static void begin_block(struct grid_decoder *decoder, uint8_t code)
{
    unsigned needed = code - 1U + decoder->zero_follows;
    if (needed > (unsigned)(decoder->room - decoder->size))
        decoder->broken = true;
    else if (decoder->zero_follows)
        decoder->body[decoder->size++] = 0;
    decoder->left = code - 1;
    /* Not after a block of 254 bytes, but behind that one a frame has no room for another. */
    decoder->zero_follows = true;
}

enum grid_decoded grid_decode(struct grid_decoder *decoder, const uint8_t *bytes, uint16_t count, uint16_t *taken)
{
    const uint8_t *at = bytes, *end = bytes + count;
    if (!decoder->begun) {
        while (at != end && *at == 0)
            at++;
        if (at != end) {
            restart(decoder);
            decoder->begun = true;
        }
    }
    while (at != end && *at != 0) {
        if (decoder->broken) {
            at++;
            continue;
        }
        if (decoder->left == 0) {
            begin_block(decoder, *at++);
            continue;
        }
        /* The block's rest, as far as it is there; `begin_block` has seen to the room. */
        uint8_t *to = decoder->body + decoder->size;
        uint8_t left = decoder->left;
        uint8_t byte;
        while (left != 0 && at != end && (byte = *at) != 0) {
            *to++ = byte;
            at++;
            left--;
        }
        decoder->size = (uint8_t)(to - decoder->body);
        decoder->left = left;
    }
    if (at == end) {
        *taken = count;
        return GRID_DECODED_NOTHING;
    }
    *taken = (uint16_t)(at + 1 - bytes);
    decoder->begun = false;
    return is_good(decoder) ? GRID_DECODED_GOOD : GRID_DECODED_BAD;
}
