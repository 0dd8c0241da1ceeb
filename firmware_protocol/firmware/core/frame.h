/* Frames: `00 COBS(type, sequence number, payload, CRC-32) 00`, encoded in place and decoded as the bytes come. */
#ifndef GRID_FRAME_H
#define GRID_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of type and sequence number, and with the check besides. */
#define GRID_HEAD_SIZE 2
#define GRID_BODY_SIZE(payload) (GRID_HEAD_SIZE + (payload) + 4)
/* The whole frame, and where in it the payload is written before it is encoded. */
#define GRID_FRAME_SIZE(payload) (GRID_BODY_SIZE(payload) + 3)
#define GRID_PAYLOAD_AT (2 + GRID_HEAD_SIZE)

uint32_t grid_crc32(const uint8_t *bytes, uint16_t count);

/* Encodes the payload that stands at GRID_PAYLOAD_AT, at most 248 bytes of it; returns the frame's size. */
uint16_t grid_encode(uint8_t *frame, uint8_t type, uint8_t seq, uint8_t payload_size);

/* `body` has room for `room` bytes, at most 254. After GRID_DECODED_GOOD it holds type, sequence number, payload and check,
   `size` bytes in all, until the next call. */
struct grid_decoder {
    uint8_t *body;
    uint8_t room;
    uint8_t size;
    uint8_t left;      /* bytes to come of the COBS block */
    bool zero_follows; /* the block stands for a zero after it, unless the frame ends there */
    bool begun;
    bool broken;
};

enum grid_decoded {
    GRID_DECODED_NOTHING, /* all bytes were taken */
    GRID_DECODED_GOOD,
    GRID_DECODED_BAD,
};

void grid_decoder_start(struct grid_decoder *decoder, uint8_t *body, uint8_t room);

/* Takes bytes up to the end of a frame, if one ends among them; `taken` says how many. */
enum grid_decoded grid_decode(struct grid_decoder *decoder, const uint8_t *bytes, uint16_t count, uint16_t *taken);

#endif
