/* The core on this computer, with a clock that stands still between commands: for tests, under sanitizers too.

   A command a line on standard input, an answer a line on standard output; times are in cycles of a 16 MHz clock. The
   same commands as of hardware_sims/avr/harness.c in steps, so that the same tests drive both. Bytes from the device take
   their time on the line, bytes to it take none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

#define CYCLES_PER_MS 16000
#define MOST_BYTES 65536
#define TX_RING (2 * GRID_RX_WINDOW)

static struct grid grid;
static uint64_t cycles, started_cycles;
static uint32_t boot_id = 1;
static uint32_t baud = GRID_BAUD;
static uint8_t sensors[GRID_BITMAP_BYTES];
static uint8_t leds[3 * GRID_CELLS];
static unsigned shows;
/* What waits or was sent since it was last told of, each byte with the cycle at which it is out. */
static uint8_t sent[MOST_BYTES];
static uint64_t sent_cycles[MOST_BYTES];
static unsigned sent_count, out_count;
static uint64_t line_free_cycles;
static bool frame_begun;

static uint32_t now_ms(void *board)
{
    (void)board;
    return (uint32_t)((cycles - started_cycles) / CYCLES_PER_MS);
}

static uint16_t get_room(void *board)
{
    (void)board;
    unsigned waiting = sent_count - out_count;
    return (uint16_t)(waiting < TX_RING && sent_count < MOST_BYTES - TX_RING ? TX_RING - waiting : 0);
}

static void write_bytes(void *board, const uint8_t *bytes, uint16_t count)
{
    if (count > get_room(board)) {
        fputs("more was written than there is room for\n", stderr);
        abort();
    }
    for (uint16_t i = 0; i < count; i++) {
        line_free_cycles = (line_free_cycles > cycles ? line_free_cycles : cycles) + 160000000 / baud;
        sent[sent_count] = bytes[i];
        sent_cycles[sent_count++] = line_free_cycles;
    }
}

static uint16_t overruns(void *board)
{
    (void)board;
    return 0;
}

static bool can_baud(void *board, uint32_t wanted)
{
    (void)board;
    return wanted >= 9600 && wanted <= 1000000;
}

static void set_baud(void *board, uint32_t wanted)
{
    (void)board;
    baud = wanted;
}

static void scan(void *board, uint8_t *bits)
{
    (void)board;
    memcpy(bits, sensors, sizeof sensors);
}

static void show(void *board, const uint8_t *rgb, uint8_t step, uint8_t brightness)
{
    (void)board;
    for (uint16_t cell = 0; cell < GRID_CELLS; cell++, rgb += step)
        for (uint8_t colour = 0; colour < 3; colour++)
            leds[3 * cell + colour] = (uint8_t)(rgb[colour] * (brightness + 1U) / 256);
    shows++;
}

static const struct grid_port port = {
    NULL, now_ms, get_room, write_bytes, overruns, can_baud, set_baud, scan, show,
};

static void start(void)
{
    static const uint8_t uid[8] = {'n', 'a', 't', 'i', 'v', 'e', 0, 1};
    started_cycles = line_free_cycles = cycles;
    sent_count = out_count;
    baud = GRID_BAUD;
    grid_start(&grid, &port, uid, boot_id++);
}

static void run(uint64_t wanted, bool to_frame)
{
    uint64_t end = cycles + wanted;
    bool ended = false;
    grid_poll(&grid);
    while (cycles < end && !(to_frame && ended)) {
        uint64_t next = (cycles / CYCLES_PER_MS + 1) * CYCLES_PER_MS;
        if (out_count < sent_count && sent_cycles[out_count] < next)
            next = sent_cycles[out_count];
        cycles = next < end ? next : end;
        if (out_count < sent_count && sent_cycles[out_count] <= cycles) {
            uint8_t byte = sent[out_count++];
            ended |= frame_begun && byte == 0;
            frame_begun = byte != 0;
        }
        grid_poll(&grid);
    }
}

static void tell_sent(void)
{
    printf("%" PRIu64, cycles);
    for (unsigned i = 0; i < out_count; i++)
        printf(" %" PRIu64 ":%02x", sent_cycles[i], sent[i]);
    putchar('\n');
    sent_count -= out_count;
    memmove(sent, sent + out_count, sent_count);
    memmove(sent_cycles, sent_cycles + out_count, sent_count * sizeof *sent_cycles);
    out_count = 0;
}

static void take_hex(const char *hex)
{
    unsigned byte;
    size_t count = strlen(hex) / 2;
    /* A buffer of just this size, so that a sanitizer sees any byte read past it. */
    uint8_t *bytes = malloc(count ? count : 1);
    if (bytes == NULL)
        exit(1);
    for (size_t i = 0; i < count && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
        bytes[i] = (uint8_t)byte;
    for (size_t at = 0; at < count;)
        at += grid_receive(&grid, bytes + at, (uint16_t)(count - at));
    free(bytes);
}

static void tell_leds(void)
{
    printf("%u 0 ", shows);
    for (unsigned i = 0; i < sizeof leds; i++)
        printf("%02x", leds[i]);
    putchar('\n');
}

int main(void)
{
    static char line[2 * MOST_BYTES + 16];
    start();
    while (fgets(line, sizeof line, stdin)) {
        char *word = strtok(line, " \n");
        const char *first = strtok(NULL, " \n");
        const char *second = strtok(NULL, " \n");
        unsigned long long value = first ? strtoull(first, NULL, 10) : 0;
        if (!word)
            continue;
        if (!strcmp(word, "run") || !strcmp(word, "frame")) {
            run(value, word[0] == 'f');
            tell_sent();
        } else if (!strcmp(word, "send")) {
            take_hex(first ? first : "");
            puts("ok");
        } else if (!strcmp(word, "sensor") && second && value < GRID_CELLS) {
            uint8_t mask = (uint8_t)(1 << value % 8);
            sensors[value / 8] = (uint8_t)(second[0] == '1' ? sensors[value / 8] | mask : sensors[value / 8] & ~mask);
            puts("ok");
        } else if (!strcmp(word, "baud")) {
            /* The host's speed: here bytes arrive at any. */
            puts("ok");
        } else if (!strcmp(word, "leds")) {
            tell_leds();
        } else if (!strcmp(word, "counters")) {
            printf("cycles=%" PRIu64 " baud=%" PRIu32 "\n", cycles, baud);
        } else if (!strcmp(word, "reset")) {
            start();
            puts("ok");
        } else {
            puts("unknown command");
        }
        fflush(stdout);
    }
    return 0;
}
