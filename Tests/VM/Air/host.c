/* What a controller says to the kernel: events and data. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "air.h"

millis now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (millis)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void trace(const char *f, ...) {
    va_list a;

    if (!verbose)
        return;
    va_start(a, f);
    vfprintf(stderr, f, a);
    va_end(a);
    fputc('\n', stderr);
}

void to_host(struct controller *c, const uint8_t *d, int len) {
    int tries = 0;

    if (c->fd < 0)
        return;
    while (write(c->fd, d, len) < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            trace("hci%d: write: %s", c->hci, strerror(errno));
            return;
        }
        if (++tries > 100)
            return;
        usleep(1000);
    }
}

void event(struct controller *c, uint8_t code, const void *d, int len) {
    uint8_t b[3 + 255];

    b[0] = 4;
    b[1] = code;
    b[2] = len;
    memcpy(b + 3, d, len);
    to_host(c, b, 3 + len);
}

void meta(struct controller *c, uint8_t sub, const void *d, int len) {
    uint8_t b[255];

    b[0] = sub;
    memcpy(b + 1, d, len);
    event(c, 0x3e, b, 1 + len);
}

void complete(struct controller *c, uint16_t op, const void *d, int len) {
    uint8_t b[255] = {1};

    put16(b + 1, op);
    memcpy(b + 3, d, len);
    event(c, 0x0e, b, 3 + len);
}

void done(struct controller *c, uint16_t op, uint8_t st) { complete(c, op, &st, 1); }

void status(struct controller *c, uint16_t op, uint8_t st) {
    uint8_t b[4] = {st, 1};

    put16(b + 2, op);
    event(c, 0x0f, b, 4);
}

void sent_packets(struct controller *c, uint16_t h, int n) {
    uint8_t b[5] = {1};

    put16(b + 1, h);
    put16(b + 3, n);
    event(c, 0x13, b, 5);
}
