/* The firmware's AVR image in simavr, with the line, the LEDs and the sensors round it.

   The line is our own model, put in the place of simavr's: that one counts 11 bits a byte, keeps 64 bytes and never
   overruns. Here a byte takes 10 bits, the receiver keeps two and one more until the next begins, as the data sheet says,
   and a byte at another speed arrives as the receiver would sample it.

   `harness IMAGE MCU CELLS UID ACTIVE_LOW pty` runs in real time behind a pty; with `steps` instead the clock stands
   still between commands. Commands are lines on standard input, each is answered by one line. Times are in cycles of the
   16 MHz clock. */
#define _GNU_SOURCE
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <avr_eeprom.h>
#include <avr_ioport.h>
#include <avr_uart.h>
#include <sim_avr.h>
#include <sim_cycle_timers.h>
#include <sim_elf.h>
#include <sim_io.h>

#define HZ 16000000ULL
#define START_BAUD 115200
#define MOST_CELLS 2048
#define MOST_BYTES 65536
#define CYCLES(ns) ((ns) * 16 / 1000)

static avr_t *avr;
static avr_uart_t *uart;
static unsigned cells;
static bool active_low;
static uint32_t host_baud = START_BAUD;

static struct {
    unsigned long overruns, garbled, received, sent, unread, bad_pulses, shows;
} counters;

/* ---- The line: what the host sends, and how the chip receives it ---- */

static uint8_t from_host[MOST_BYTES];
static unsigned from_host_first, from_host_count;
static double next_start; /* cycle at which the line is free for the next byte */
static uint8_t on_the_way;
static bool byte_on_the_way, start_is_due;

static uint8_t fifo[2];
static unsigned fifo_count;
static uint8_t held; /* complete, but there is no room for it */
static bool byte_held, data_overrun;

static double host_bit(void)
{
    return (double)HZ / host_baud;
}

static double device_bit(void)
{
    unsigned divisor = avr->data[uart->ubrrl.reg] | (avr->data[uart->ubrrh.reg] & 0x0fU) << 8;
    return (divisor + 1.0) * (avr_regbit_get(avr, uart->u2x) ? 8 : 16);
}

/* What a receiver makes of a byte that was sent with another bit time: it samples the middle of each of its own bits. */
static uint8_t sampled(uint8_t byte, double sent_bit, double own_bit)
{
    uint8_t seen = 0;
    for (int bit = 0; bit < 8; bit++) {
        int at = (int)((bit + 1.5) * own_bit / sent_bit) - 1;
        if (at >= 8 || (at >= 0 && byte >> at & 1))
            seen |= (uint8_t)(1 << bit);
    }
    if (seen != byte)
        counters.garbled++;
    return seen;
}

static void push_received(uint8_t byte)
{
    fifo[fifo_count++] = byte;
    avr_raise_interrupt(avr, &uart->rxc);
}

static avr_cycle_count_t rx_end(avr_t *a, avr_cycle_count_t when, void *param)
{
    (void)when;
    (void)param;
    byte_on_the_way = false;
    if (!avr_regbit_get(a, uart->rxen))
        return 0;
    counters.received++;
    uint8_t byte = sampled(on_the_way, host_bit(), device_bit());
    if (fifo_count < 2) {
        push_received(byte);
    } else {
        held = byte;
        byte_held = true;
    }
    return 0;
}

static avr_cycle_count_t rx_start(avr_t *a, avr_cycle_count_t when, void *param)
{
    (void)param;
    if (from_host_count == 0 || byte_on_the_way) {
        start_is_due = false;
        return 0;
    }
    if (byte_held) {
        byte_held = false;
        data_overrun = true;
        counters.overruns++;
    }
    on_the_way = from_host[from_host_first];
    from_host_first = (from_host_first + 1) % MOST_BYTES;
    from_host_count--;
    byte_on_the_way = true;
    /* The receiver has the byte in the middle of its stop bit. */
    avr_cycle_timer_register(a, (avr_cycle_count_t)(9.5 * host_bit()), rx_end, NULL);
    if (next_start < when)
        next_start = (double)when;
    next_start += 10 * host_bit();
    return (avr_cycle_count_t)next_start;
}

static void let_host_send(void)
{
    if (from_host_count == 0 || start_is_due)
        return;
    start_is_due = true;
    uint64_t wait = next_start > (double)avr->cycle ? (uint64_t)next_start - avr->cycle : 1;
    avr_cycle_timer_register(avr, wait, rx_start, NULL);
}

static void host_sends(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count && from_host_count < MOST_BYTES; i++)
        from_host[(from_host_first + from_host_count++) % MOST_BYTES] = bytes[i];
    let_host_send();
}

static uint8_t read_udr(avr_t *a, avr_io_addr_t addr, void *param)
{
    (void)param;
    data_overrun = false;
    uint8_t byte = fifo[0];
    if (fifo_count == 0)
        return a->data[addr];
    fifo[0] = fifo[1];
    fifo_count--;
    if (byte_held) {
        byte_held = false;
        push_received(held);
    } else if (fifo_count) {
        avr_raise_interrupt(a, &uart->rxc);
    } else {
        avr_regbit_clear(a, uart->rxc.raised);
        avr_clear_interrupt(a, &uart->rxc);
    }
    return a->data[addr] = byte;
}

static uint8_t read_ucsra(avr_t *a, avr_io_addr_t addr, void *param)
{
    (void)param;
    avr_regbit_setto(a, uart->dor, data_overrun);
    return a->data[addr];
}

/* A timer that does nothing but end a stretch of running. */
static avr_cycle_count_t stop_here(avr_t *a, avr_cycle_count_t when, void *param)
{
    (void)a;
    (void)when;
    (void)param;
    return 0;
}

/* ---- The line: what the chip sends, with the cycle at which each byte was complete ---- */

static uint8_t sent[MOST_BYTES];
static uint64_t sent_cycles[MOST_BYTES];
static unsigned sent_count;
static bool frame_begun, frame_ended;
static uint8_t shifting, buffered;
static bool is_shifting, is_buffered;

static avr_cycle_count_t tx_end(avr_t *a, avr_cycle_count_t when, void *param)
{
    (void)param;
    uint8_t byte = sampled(shifting, device_bit(), host_bit());
    counters.sent++;
    if (sent_count < MOST_BYTES) {
        sent[sent_count] = byte;
        sent_cycles[sent_count++] = when;
    }
    if (frame_begun && byte == 0) {
        frame_ended = true;
        /* A sleeping chip jumps from timer to timer: `run` shall see the end at once. */
        avr_cycle_timer_register(a, 1, stop_here, NULL);
    }
    frame_begun = byte != 0;
    is_shifting = is_buffered;
    if (!is_buffered) {
        avr_raise_interrupt(a, &uart->txc);
        return 0;
    }
    shifting = buffered;
    is_buffered = false;
    avr_raise_interrupt(a, &uart->udrc);
    return when + (avr_cycle_count_t)(10 * device_bit());
}

static void write_udr(avr_t *a, avr_io_addr_t addr, uint8_t byte, void *param)
{
    (void)addr;
    (void)param;
    if (!avr_regbit_get(a, uart->txen) || is_buffered)
        return;
    if (is_shifting) {
        buffered = byte;
        is_buffered = true;
        avr_regbit_clear(a, uart->udrc.raised);
        avr_clear_interrupt(a, &uart->udrc);
        return;
    }
    shifting = byte;
    is_shifting = true;
    avr_cycle_timer_register(a, (avr_cycle_count_t)(10 * device_bit()), tx_end, NULL);
    avr_raise_interrupt(a, &uart->udrc);
}

static void write_ucsra(avr_t *a, avr_io_addr_t addr, uint8_t value, void *param)
{
    (void)param;
    uint8_t txc = (uint8_t)(1 << uart->txc.raised.bit);
    uint8_t own = (uint8_t)(1 << uart->u2x.bit);
    if (value & txc) {
        avr_regbit_clear(a, uart->txc.raised);
        avr_clear_interrupt(a, &uart->txc);
    }
    a->data[addr] = (uint8_t)((a->data[addr] & ~own) | (value & own));
}

static void write_ucsrb(avr_t *a, avr_io_addr_t addr, uint8_t value, void *param)
{
    (void)param;
    a->data[addr] = value;
    if (!is_buffered)
        avr_raise_interrupt(a, &uart->udrc);
    if (fifo_count)
        avr_raise_interrupt(a, &uart->rxc);
}

static void write_plain(avr_t *a, avr_io_addr_t addr, uint8_t value, void *param)
{
    (void)param;
    a->data[addr] = value;
}

static void own_register(avr_io_addr_t addr, avr_io_read_t read, avr_io_write_t write)
{
    avr->io[AVR_DATA_TO_IO(addr)].r.c = read;
    avr->io[AVR_DATA_TO_IO(addr)].w.c = write;
}

static void line_starts(void)
{
    for (avr_io_t *io = avr->io_port; io; io = io->next)
        if (!strcmp(io->kind, "uart") && ((avr_uart_t *)io)->name == '0')
            uart = (avr_uart_t *)io;
    own_register(uart->r_udr, read_udr, write_udr);
    own_register(uart->r_ucsra, read_ucsra, write_ucsra);
    own_register(uart->r_ucsrb, NULL, write_ucsrb);
    own_register(uart->ubrrl.reg, NULL, write_plain);
    own_register(uart->ubrrh.reg, NULL, write_plain);
}

static void line_resets(void)
{
    fifo_count = 0;
    byte_held = data_overrun = byte_on_the_way = start_is_due = false;
    is_shifting = is_buffered = false;
    avr_regbit_set(avr, uart->udrc.raised);
    let_host_send();
}

/* ---- The LEDs: a chain of WS2812 that judges every pulse ---- */

static uint8_t arriving[3 * MOST_CELLS], shown[3 * MOST_CELLS];
static unsigned arriving_bits;
static unsigned shown_bytes;
static uint64_t rose, fell;

/* Within what the data sheets of WS2812B, its later versions and SK6812 have in common; a pause inside of the data must
   not be long enough for an early end. */
#define ZERO_NS(ns) ((ns) >= 250 && (ns) <= 380)
#define ONE_NS(ns) ((ns) >= 650 && (ns) <= 750)
#define LOW_NS(ns) ((ns) >= 500 && (ns) <= 5000)
#define LATCH_NS 280000

static avr_cycle_count_t latch(avr_t *a, avr_cycle_count_t when, void *param)
{
    (void)a;
    (void)when;
    (void)param;
    shown_bytes = arriving_bits / 8;
    memcpy(shown, arriving, shown_bytes);
    if (arriving_bits != 24 * cells)
        counters.bad_pulses++;
    arriving_bits = 0;
    counters.shows++;
    return 0;
}

static void led_pin(struct avr_irq_t *irq, uint32_t level, void *param)
{
    (void)irq;
    (void)param;
    if (level) {
        uint64_t low_ns = (avr->cycle - fell) * 1000 / 16;
        if (arriving_bits && !LOW_NS(low_ns))
            counters.bad_pulses++;
        rose = avr->cycle;
        avr_cycle_timer_cancel(avr, latch, NULL);
        return;
    }
    if (rose == 0)
        return;
    uint64_t high_ns = (avr->cycle - rose) * 1000 / 16;
    bool one = high_ns > 500;
    if (one ? !ONE_NS(high_ns) : !ZERO_NS(high_ns))
        counters.bad_pulses++;
    if (arriving_bits < sizeof arriving * 8) {
        uint8_t mask = (uint8_t)(0x80 >> arriving_bits % 8);
        uint8_t *byte = arriving + arriving_bits / 8;
        *byte = (uint8_t)(one ? *byte | mask : *byte & ~mask);
        arriving_bits++;
    }
    fell = avr->cycle;
    avr_cycle_timer_register(avr, CYCLES(LATCH_NS), latch, NULL);
}

/* ---- The sensors: a chain of 74HC165 ---- */

static bool occupied[MOST_CELLS], loaded[MOST_CELLS];
static unsigned shifted;
static bool loading;
static avr_irq_t *data_pin;

/* A chip sends its input H (D7) first. */
static void put_data(void)
{
    unsigned cell = shifted / 8 * 8 + 7 - shifted % 8;
    avr_raise_irq(data_pin, cell < cells ? loaded[cell] != active_low : active_low);
}

static void load(void)
{
    memcpy(loaded, occupied, sizeof loaded);
    shifted = 0;
    put_data();
}

static void load_pin(struct avr_irq_t *irq, uint32_t level, void *param)
{
    (void)irq;
    (void)param;
    loading = !level;
    load();
}

static void clock_pin(struct avr_irq_t *irq, uint32_t level, void *param)
{
    (void)irq;
    (void)param;
    if (!level || loading)
        return;
    shifted++;
    put_data();
}

/* ---- The chip ---- */

#define PAINT 0xc5
static unsigned first_free; /* RAM above the firmware's variables */

static void no_sleep(avr_t *a, avr_cycle_count_t how_long)
{
    (void)a;
    (void)how_long;
}

static void reset(void)
{
    avr_reset(avr);
    memset(avr->data + first_free, PAINT, avr->ramend + 1U - first_free);
    rose = arriving_bits = 0;
    /* The reset has cleared the pin's level, and an irq tells changes alone. */
    avr_raise_irq(data_pin, 1);
    avr_raise_irq(data_pin, 0);
    put_data();
    line_resets();
}

/* Bytes of RAM that the stack never touched since the reset. */
static unsigned untouched(void)
{
    unsigned at = first_free;
    while (at <= avr->ramend && avr->data[at] == PAINT)
        at++;
    return at - first_free;
}

static avr_irq_t *pin(char port, int bit)
{
    return avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), bit);
}

static bool build_board(const char *image, const char *mcu, const char *uid)
{
    elf_firmware_t firmware = {0};
    if (elf_read_firmware(image, &firmware) || !(avr = avr_make_mcu_by_name(mcu)))
        return false;
    avr_init(avr);
    firmware.frequency = HZ;
    avr_load_firmware(avr, &firmware);
    avr->frequency = HZ;
    avr->log = LOG_ERROR;
    avr->sleep = no_sleep;
    first_free = avr->ioend + 1U + firmware.datasize + firmware.bsssize;

    bool small = !strcmp(mcu, "atmega328p");
    char chain = small ? 'B' : 'A';
    int first = small ? 0 : 1;
    avr_irq_register_notify(small ? pin('D', 6) : pin('A', 0), led_pin, NULL);
    avr_irq_register_notify(pin(chain, first), load_pin, NULL);
    avr_irq_register_notify(pin(chain, first + 1), clock_pin, NULL);
    data_pin = pin(chain, first + 2);

    uint8_t eeprom[12];
    memset(eeprom, 0xff, sizeof eeprom);
    for (unsigned i = 0; i < 8 && strlen(uid) == 16; i++)
        sscanf(uid + 2 * i, "%2hhx", &eeprom[i]);
    avr_eeprom_desc_t desc = {.ee = eeprom, .offset = 0, .size = sizeof eeprom};
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &desc);
    line_starts();
    reset();
    return true;
}

/* Runs so many cycles; or, with `to_frame`, only until the chip has sent the end of a frame. */
static void run(uint64_t wanted, bool to_frame)
{
    uint64_t end = avr->cycle + wanted;
    frame_ended = false;
    avr_cycle_timer_register(avr, wanted, stop_here, &end);
    while (avr->cycle < end && !(to_frame && frame_ended)) {
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed) {
            fprintf(stderr, "the firmware crashed at 0x%x\n", avr->pc);
            exit(3);
        }
    }
    avr_cycle_timer_cancel(avr, stop_here, &end);
}

/* ---- The pty ---- */

static int master = -1;
static bool is_open;
static bool resets_on_open;
static int openings = -1; /* tells of each, also of one between two looks */
static char port_name[64], port_before[64];

static int new_pty(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || grantpt(fd) || unlockpt(fd) || ptsname_r(fd, port_name, sizeof port_name))
        return -1;
    int slave = open(port_name, O_RDWR | O_NOCTTY);
    struct termios2 raw;
    if (slave < 0 || ioctl(slave, TCGETS2, &raw))
        return -1;
    raw.c_iflag = raw.c_oflag = raw.c_lflag = 0;
    raw.c_cflag = CS8 | CREAD | CLOCAL | BOTHER;
    raw.c_ispeed = raw.c_ospeed = START_BAUD;
    ioctl(slave, TCSETS2, &raw);
    close(slave);
    return fd;
}

static void unplug(void)
{
    if (master >= 0)
        close(master);
    master = -1;
    is_open = false;
    from_host_count = 0;
    strcpy(port_before, port_name);
}

/* Another name than before, as a real port often gets. */
static void plug(void)
{
    int first = new_pty();
    master = first;
    if (!strcmp(port_name, port_before)) {
        master = new_pty();
        close(first);
    }
    if (openings >= 0)
        close(openings);
    openings = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    inotify_add_watch(openings, port_name, IN_OPEN);
}

static bool was_opened(void)
{
    char events[4096];
    return openings >= 0 && read(openings, events, sizeof events) > 0;
}

static void serve_pty(void)
{
    if (master < 0) {
        counters.unread += sent_count;
        sent_count = 0;
        return;
    }
    struct pollfd wait = {.fd = master, .events = POLLIN};
    poll(&wait, 1, 0);
    is_open = !(wait.revents & POLLHUP);
    if (was_opened() && resets_on_open)
        reset();
    struct termios2 set;
    if (is_open && !ioctl(master, TCGETS2, &set) && set.c_ospeed)
        host_baud = set.c_ospeed;
    uint8_t bytes[4096];
    ssize_t count;
    while (from_host_count < MOST_BYTES - sizeof bytes && (count = read(master, bytes, sizeof bytes)) > 0)
        host_sends(bytes, (size_t)count);
    unsigned written = 0;
    if (is_open && sent_count && (count = write(master, sent, sent_count)) > 0)
        written = (unsigned)count;
    counters.unread += sent_count - written;
    sent_count = 0;
}

/* ---- Commands ---- */

static void tell_sent(void)
{
    printf("%" PRIu64, avr->cycle);
    for (unsigned i = 0; i < sent_count; i++)
        printf(" %" PRIu64 ":%02x", sent_cycles[i], sent[i]);
    putchar('\n');
    sent_count = 0;
}

static void take_hex(const char *hex)
{
    uint8_t byte;
    for (; sscanf(hex, "%2hhx", &byte) == 1; hex += 2)
        host_sends(&byte, 1);
}

/* Red, green and blue of each LED: the line carries green first. */
static void tell_leds(void)
{
    printf("%lu %lu ", counters.shows, counters.bad_pulses);
    for (unsigned at = 0; at + 2 < shown_bytes; at += 3)
        printf("%02x%02x%02x", shown[at + 1], shown[at], shown[at + 2]);
    putchar('\n');
}

static void tell_counters(void)
{
    printf("cycles=%" PRIu64 " baud=%.0f overruns=%lu garbled=%lu received=%lu sent=%lu unread=%lu shows=%lu "
           "bad_pulses=%lu stack_free=%u\n",
           avr->cycle, HZ / device_bit(), counters.overruns, counters.garbled, counters.received, counters.sent,
           counters.unread, counters.shows, counters.bad_pulses, untouched());
}

static void obey(char *line)
{
    char *word = strtok(line, " \n");
    const char *first = strtok(NULL, " \n");
    const char *second = strtok(NULL, " \n");
    unsigned long long value = first ? strtoull(first, NULL, 10) : 0;
    if (!word)
        return;
    if (!strcmp(word, "run") || !strcmp(word, "frame")) {
        run(value, word[0] == 'f');
        tell_sent();
    } else if (!strcmp(word, "send")) {
        take_hex(first ? first : "");
        puts("ok");
    } else if (!strcmp(word, "sensor") && second && value < cells) {
        occupied[value] = second[0] == '1';
        if (loading)
            load();
        puts("ok");
    } else if (!strcmp(word, "baud") && value) {
        host_baud = (uint32_t)value;
        puts("ok");
    } else if (!strcmp(word, "leds")) {
        tell_leds();
    } else if (!strcmp(word, "counters")) {
        tell_counters();
    } else if (!strcmp(word, "reset")) {
        reset();
        puts("ok");
    } else if (!strcmp(word, "unplug")) {
        unplug();
        puts("ok");
    } else if (!strcmp(word, "plug")) {
        plug();
        reset();
        puts(port_name);
    } else if (!strcmp(word, "auto-reset")) {
        resets_on_open = value;
        puts("ok");
    } else {
        puts("unknown command");
    }
    fflush(stdout);
}

/* False at the end of the input. */
static bool obey_waiting(void)
{
    static char line[1024];
    static size_t length;
    for (;;) {
        ssize_t count = read(STDIN_FILENO, line + length, 1);
        if (count == 0)
            return false;
        if (count < 0)
            return errno == EAGAIN || errno == EINTR;
        if (line[length] == '\n' || length == sizeof line - 2) {
            line[length + 1] = 0;
            length = 0;
            obey(line);
        } else {
            length++;
        }
    }
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#define SLICE_CYCLES 3200   /* 200 us: so much later, at most, than on a real line a byte comes to the host */
#define MOST_BEHIND_NS 20000000

static void run_in_real_time(void)
{
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    int64_t began_ns = now_ns();
    uint64_t began = avr->cycle;
    while (obey_waiting()) {
        serve_pty();
        run(SLICE_CYCLES, false);
        serve_pty();
        int64_t ahead_ns = began_ns + (int64_t)((avr->cycle - began) * 1000 / 16) - now_ns();
        if (ahead_ns > 0) {
            struct pollfd command = {.fd = STDIN_FILENO, .events = POLLIN};
            struct timespec until = {0, ahead_ns};
            ppoll(&command, 1, &until, NULL);
        } else if (ahead_ns < -MOST_BEHIND_NS) {
            /* The computer has no time for us: what is missed is not made up for in a rush. */
            began_ns -= ahead_ns;
        }
    }
}

static void run_in_steps(void)
{
    static char line[2 * MOST_BYTES + 16];
    while (fgets(line, sizeof line, stdin))
        obey(line);
}

int main(int count, char **words)
{
    if (count != 7 || (cells = (unsigned)atoi(words[3])) == 0 || cells > MOST_CELLS) {
        fprintf(stderr, "usage: harness IMAGE MCU CELLS UID ACTIVE_LOW pty|steps\n");
        return 2;
    }
    active_low = words[5][0] == '1';
    if (!build_board(words[1], words[2], words[4])) {
        fprintf(stderr, "simavr cannot load %s for %s\n", words[1], words[2]);
        return 3;
    }
    bool in_steps = !strcmp(words[6], "steps");
    if (!in_steps)
        plug();
    printf("\nready %s\n", in_steps ? "steps" : port_name);
    fflush(stdout);
    if (in_steps)
        run_in_steps();
    else
        run_in_real_time();
    return 0;
}
