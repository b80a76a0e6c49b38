/* Advertising sets, who hears them, and who connects upon hearing one. */
#include <stdlib.h>
#include <string.h>

#include "air.h"

void stop_adv(struct controller *c, struct adv *a, uint8_t st, uint16_t h) {
    uint8_t b[5] = {st, a->handle};

    a->on = 0;
    if (!c->ext)
        return;
    put16(b + 2, h);
    b[4] = a->events > 255 ? 255 : a->events;
    meta(c, 0x12, b, 5);
}

int on_list(struct controller *c, int type, const uint8_t *addr) {
    for (int i = 0; i < c->nlist; i++)
        if (c->list[i].type == type && !memcmp(c->list[i].addr, addr, 6))
            return 1;
    return 0;
}

static int is_for(struct adv *a, struct controller *c, int own) {
    const uint8_t *me = own & 1 ? c->raddr : c->addr;

    return !(a->props & DIRECTED) || (a->dtype == (own & 1) && !memcmp(a->daddr, me, 6));
}

static uint64_t mix(uint64_t h, const uint8_t *d, int n) {
    while (n-- > 0)
        h = (h ^ *d++) * 1099511628211ull;
    return h;
}

static int legacy_kind(int props) {
    if (props & DIRECTED)
        return 1;
    if (props & CONNECTABLE)
        return 0;
    return props & SCANNABLE ? 2 : 3;
}

static void report(struct controller *s, struct controller *from, struct adv *a, int is_rsp) {
    const uint8_t *d = is_rsp ? a->rsp : a->data;
    int n = is_rsp ? a->rlen : a->dlen, type = a->own & 1;
    uint8_t b[255];

    if (s->scan.dup) {
        uint64_t k = mix(mix(14695981039346656037ull + type + 2 * is_rsp, a->addr, 6), d, n);

        for (int i = 0; i < s->nseen; i++)
            if (s->seen[i] == k)
                return;
        if (s->nseen < SEEN)
            s->seen[s->nseen++] = k;
    }
    count.report++;
    if (!s->ext) {
        if (!(a->props & LEGACY))
            return; /* a 4.x controller does not hear extended advertising */
        b[0] = 1;
        b[1] = is_rsp ? 4 : legacy_kind(a->props);
        b[2] = type;
        memcpy(b + 3, a->addr, 6);
        b[9] = n;
        memcpy(b + 10, d, n);
        b[10 + n] = rssi[s->n][from->n];
        meta(s, 0x02, b, 11 + n);
        return;
    }
    for (int at = 0, more = 1; more; at += 200) {
        int len = n - at > 200 ? 200 : n - at;

        more = at + len < n;
        memset(b, 0, 25);
        b[0] = 1;
        put16(b + 1, (a->props & 0x1f) | (is_rsp ? 8 : 0) | (more ? 0x20 : 0));
        b[3] = type;
        memcpy(b + 4, a->addr, 6);
        b[10] = 1; /* primary PHY: 1M */
        b[11] = a->props & LEGACY ? 0 : 1;
        b[12] = a->props & LEGACY ? 0xff : a->sid;
        b[13] = 127;
        b[14] = rssi[s->n][from->n];
        if (a->props & DIRECTED) {
            b[17] = a->dtype;
            memcpy(b + 18, a->daddr, 6);
        }
        b[24] = len;
        memcpy(b + 25, d + at, len);
        meta(s, 0x0d, b, 25 + len);
    }
}

/* One advertising event: whoever scans hears it; one who waits to connect may. */
void advertise(struct controller *c, struct adv *a) {
    count.adv++;
    a->events++;
    for (int i = 0; i < controller_count; i++) {
        struct controller *s = &controllers[i];

        if (!s->scan.on || !hears(s, c) || deaf[s->n][c->n] || !is_for(a, s, s->scan.own))
            continue;
        if ((s->scan.policy & 1) && !on_list(s, a->own & 1, a->addr))
            continue;
        if (loss[s->n][c->n] && rand() % 100 < loss[s->n][c->n])
            continue;
        report(s, c, a, 0);
        if (s->scan.active && (a->props & SCANNABLE) &&
            (!(a->policy & 1) || on_list(c, s->scan.own & 1, s->scan.own & 1 ? s->raddr : s->addr)))
            report(s, c, a, 1);
    }
    if (!(a->props & CONNECTABLE))
        return;
    for (int k = 0, i = rand() % controller_count; k < controller_count; k++, i = (i + 1) % controller_count) {
        struct controller *s = &controllers[i];
        int own = s->init.own & 1;

        if (!s->init.on || !hears(s, c) || !is_for(a, s, own))
            continue;
        if (!s->ext && !(a->props & LEGACY))
            continue;
        if (s->init.policy ? !on_list(s, a->own & 1, a->addr)
                           : (s->init.type & 1) != (a->own & 1) || memcmp(s->init.peer, a->addr, 6))
            continue;
        if ((a->policy & 2) && !on_list(c, own, own ? s->raddr : s->addr))
            continue;
        if (links_of(c) >= c->limit || links_of(s) >= s->limit)
            continue;
        if (loss[c->n][s->n] && rand() % 100 < loss[c->n][s->n])
            continue;
        if (s->refuse > 0) {
            s->refuse--;
            s->init.on = 0;
            conn_complete(NULL, 0, s->refusal, s, a->own & 1, a->addr);
            continue;
        }
        join(s, c, a);
        return;
    }
}

int period(struct adv *a) {
    int t = a->interval * 5 / 8;

    if (longest_interval && t > longest_interval)
        t = longest_interval;
    return (t < 20 ? 20 : t) + rand() % 10;
}

uint8_t start_adv(struct controller *c, struct adv *a, int duration, int max_events) {
    if (a->own & 1) {
        uint8_t has = c->ext ? a->has_raddr : c->has_raddr;

        if (!has)
            return INVALID;
        memcpy(a->addr, c->ext ? a->raddr : c->raddr, 6);
    } else {
        memcpy(a->addr, c->addr, 6);
    }
    a->on = 1;
    a->events = 0;
    a->max_events = max_events;
    a->next = now() + rand() % 20;
    a->until = duration ? now() + duration * 10 : 0;
    return OK;
}

struct adv *adv_set(struct controller *c, uint8_t handle, int make) {
    for (int i = 0; i < MAXADV; i++)
        if (c->adv[i].used && c->adv[i].handle == handle)
            return &c->adv[i];
    for (int i = 0; make && i < MAXADV; i++)
        if (!c->adv[i].used) {
            memset(&c->adv[i], 0, sizeof(c->adv[i]));
            c->adv[i].used = 1;
            c->adv[i].handle = handle;
            return &c->adv[i];
        }
    return NULL;
}

uint8_t put_data(uint8_t *to, int *len, int op, const uint8_t *d, int n) {
    if (op == 4)
        return OK; /* unchanged data, new identifier */
    if (op == 1 || op == 3)
        *len = 0;
    if (*len + n > 1650)
        return MEM_FULL;
    memcpy(to + *len, d, n);
    *len += n;
    return OK;
}
