/* Connections: how they form, carry data, encrypt, get lost and end. */
#include <stdlib.h>
#include <string.h>

#include "air.h"

int hears(struct controller *a, struct controller *b) {
    return a != b && a->fd >= 0 && b->fd >= 0 && !apart[a->n][b->n];
}

struct link *find(struct controller *c, uint16_t h, int *me) {
    for (int i = 0; i < MAXLINK; i++)
        for (int k = 0; k < 2; k++)
            if (links[i].used && links[i].e[k].c == c && links[i].e[k].h == h) {
                *me = k;
                return &links[i];
            }
    return NULL;
}

int links_of(struct controller *c) {
    int n = 0;

    for (int i = 0; i < MAXLINK; i++)
        n += links[i].used && (links[i].e[0].c == c || links[i].e[1].c == c);
    return n;
}

static uint16_t new_handle(struct controller *c) {
    int me;

    /* Each controller counts its own handles from a place of its own, so that nothing works by luck. */
    do {
        if (++c->next_handle > 0x0eff)
            c->next_handle = 0x10;
    } while (find(c, c->next_handle, &me));
    return c->next_handle;
}

static void drop_queue(struct end *e) {
    while (e->q) {
        struct packet *p = e->q;

        e->q = p->next;
        free(p);
    }
    e->qt = &e->q;
    e->qn = 0;
}

void ended(struct end *e, uint8_t reason) {
    uint8_t b[4] = {OK};

    if (!e->c)
        return;
    put16(b + 1, e->h);
    b[3] = reason;
    event(e->c, 0x05, b, 4);
    trace("hci%d: link %u ended, 0x%02x", e->c->hci, e->h, reason);
}

void forget(struct link *l) {
    drop_queue(&l->e[0]);
    drop_queue(&l->e[1]);
    l->used = 0;
}

int in_reach(struct link *l) { return !l->gone && hears(l->e[0].c, l->e[1].c); }

/* Carry what one end has queued to the other, `most` packets of it. */
void carry(struct link *l, int from, int most) {
    struct end *a = &l->e[from], *b = &l->e[!from];
    int n = 0;

    while (a->q && n < most) {
        struct packet *p = a->q;
        unsigned flags = get16(p->d + 1) >> 12;

        if ((flags & 3) == 0)
            flags = 2; /* a host's "start, not flushable" arrives as "start" */
        put16(p->d + 1, (b->h & 0xfff) | flags << 12);
        to_host(b->c, p->d, p->len);
        a->q = p->next;
        if (!a->q)
            a->qt = &a->q;
        free(p);
        a->qn--;
        n++;
        count.acl++;
    }
    if (n)
        sent_packets(a->c, a->h, n);
}

void acl(struct controller *c, const uint8_t *d, int len) {
    int me;
    struct link *l = find(c, get16(d + 1) & 0xfff, &me);
    struct end *e;
    struct packet *p;

    if (!l) {
        trace("hci%d: data for no link %u", c->hci, get16(d + 1) & 0xfff);
        return;
    }
    e = &l->e[me];
    if (e->qn >= QMAX || !(p = malloc(sizeof(*p) + len)))
        return;
    p->next = NULL;
    p->len = len;
    memcpy(p->d, d, len);
    *e->qt = p;
    e->qt = &p->next;
    e->qn++;
    if (in_reach(l) && !paced)
        carry(l, me, QMAX);
}

void conn_complete(struct link *l, int me, uint8_t st, struct controller *c, int type, const uint8_t *peer) {
    uint8_t b[30] = {st};
    int i = 11;

    if (l)
        put16(b + 1, l->e[me].h);
    b[3] = me;
    b[4] = type;
    memcpy(b + 5, peer, 6);
    if (c->ext)
        i += 12; /* local and peer resolvable addresses: none */
    if (l) {
        put16(b + i, l->interval);
        put16(b + i + 2, l->latency);
        put16(b + i + 4, l->timeout);
    }
    meta(c, c->ext ? 0x0a : 0x01, b, i + 7);
}

void join(struct controller *ini, struct controller *per, struct adv *a) {
    struct link *l = NULL;

    for (int i = 0; i < MAXLINK && !l; i++)
        if (!links[i].used)
            l = &links[i];
    if (!l)
        return;
    memset(l, 0, sizeof(*l));
    l->used = 1;
    l->e[0].c = ini;
    l->e[0].own = ini->init.own & 1;
    memcpy(l->e[0].addr, l->e[0].own ? ini->raddr : ini->addr, 6);
    l->e[1].c = per;
    l->e[1].own = a->own & 1;
    memcpy(l->e[1].addr, a->addr, 6);
    l->e[0].h = new_handle(ini);
    l->e[1].h = new_handle(per);
    for (int k = 0; k < 2; k++)
        l->e[k].qt = &l->e[k].q;
    l->interval = ini->init.interval;
    l->latency = ini->init.latency;
    l->timeout = ini->init.timeout;
    l->next_event = now() + l->interval * 5 / 4;
    ini->init.on = 0;
    count.conn++;
    trace("hci%d -> hci%d: link, handles %u and %u", ini->hci, per->hci, l->e[0].h, l->e[1].h);
    conn_complete(l, 1, OK, per, l->e[0].own, l->e[0].addr);
    stop_adv(per, a, OK, l->e[1].h);
    conn_complete(l, 0, OK, ini, l->e[1].own, l->e[1].addr);
}

void reset(struct controller *c) {
    for (int i = 0; i < MAXLINK; i++) {
        struct link *l = &links[i];

        if (!l->used || (l->e[0].c != c && l->e[1].c != c))
            continue;
        if (l->gone) { /* both ends are gone now */
            forget(l);
            continue;
        }
        /* The other end notices only when nothing has come for the supervision timeout. */
        l->gone = 1;
        l->lost_at = now();
        l->e[l->e[1].c == c].c = NULL;
    }
    memset(c->adv, 0, sizeof(c->adv));
    memset(&c->scan, 0, sizeof(c->scan));
    memset(&c->init, 0, sizeof(c->init));
    c->nseen = c->nlist = 0;
    c->has_raddr = 0;
    memset(c->raddr, 0, 6);
    if (!c->ext)
        c->adv[0].used = 1;
}

void encryption(struct link *l, uint8_t st) {
    uint8_t b[4] = {st};

    for (int k = 0; k < 2; k++) {
        if (!l->e[k].c || (st && k == 1))
            continue;
        put16(b + 1, l->e[k].h);
        b[3] = st == OK;
        event(l->e[k].c, 0x08, b, 4);
    }
    l->encrypting = 0;
    l->encrypted = st == OK;
}
