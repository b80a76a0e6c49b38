/* The HCI commands of the kernel, by their opcodes in the Core Specification, Vol 4 Part E 7. */
#include <stdlib.h>
#include <string.h>

#include "air.h"

static const uint8_t bits_common[][2] = {
    {0, 0x20},  {2, 0x80},  {5, 0xc0},  {10, 0x04}, {14, 0x28}, {15, 0x22}, {22, 0x04},
    {25, 0x17}, {26, 0xc0}, {27, 0xe7}, {28, 0x0f}, {33, 0xc0}, {34, 0x01}, {35, 0x08},
};
static const uint8_t bits_legacy[][2] = {{25, 0xe0}, {26, 0x3f}};
static const uint8_t bits_ext[][2] = {{25, 0x40}, {26, 0x20}, {36, 0xfe}, {37, 0xe3}};

#define SET(m, t)                                                                                                      \
    for (unsigned k_ = 0; k_ < sizeof(t) / 2; k_++)                                                                    \
    (m)[t[k_][0]] |= t[k_][1]

static void features(struct controller *c, uint8_t *f) {
    memset(f, 0, 8);
    f[0] = 0x01 | 0x08 | 0x20; /* encryption, peripheral feature exchange, data length extension */
    if (c->ext)
        f[1] = 0x10; /* extended advertising */
}

static void begin_connect(struct controller *c, uint16_t op, int policy, int type, const uint8_t *peer, int own,
                          const uint8_t *par) {
    if (c->init.on) {
        status(c, op, DISALLOWED);
        return;
    }
    if (c->disallow > 0) {
        c->disallow--;
        status(c, op, c->objection);
        return;
    }
    if (links_of(c) >= c->limit) {
        status(c, op, CONN_LIMIT);
        return;
    }
    if ((own & 1) && !c->has_raddr) {
        status(c, op, INVALID);
        return;
    }
    c->init.policy = policy;
    c->init.type = type;
    memcpy(c->init.peer, peer, 6);
    c->init.own = own;
    c->init.interval = get16(par + 2);
    c->init.latency = get16(par + 4);
    c->init.timeout = get16(par + 6);
    c->init.on = 1;
    status(c, op, OK);
}

void command(struct controller *c, const uint8_t *d, int len) {
    uint16_t op = get16(d), h = 0;
    const uint8_t *p = d + 3;
    uint8_t r[255] = {0};
    struct link *l = NULL;
    struct adv *a = &c->adv[0];
    int me = 0, n = d[2];

    if (len < 3 + n)
        return;
    if (n >= 2) {
        h = get16(p) & 0xfff;
        l = find(c, h, &me);
    }
    trace("hci%d: command 0x%04x, %d", c->hci, op, n);

    switch (op) {
    case 0x0406: /* Disconnect */
        if (!l) {
            status(c, op, NO_CONN);
            return;
        }
        status(c, op, OK);
        if (in_reach(l)) {
            carry(l, me, QMAX);
            ended(&l->e[!me], p[2]);
        } else if (!l->gone) { /* out of reach: the far end runs into its timeout */
            ended(&l->e[me], LOCAL_ENDED);
            l->e[me].c = NULL;
            l->gone = 1;
            return;
        }
        ended(&l->e[me], LOCAL_ENDED);
        forget(l);
        return;
    case 0x041d: /* Read Remote Version Information */
        status(c, op, l ? OK : NO_CONN);
        if (l) {
            put16(r + 1, h);
            r[3] = 9;
            put16(r + 4, 0xffff);
            put16(r + 6, 1);
            event(c, 0x0c, r, 8);
        }
        return;
    case 0x0c01:
    case 0x0c63:
    case 0x2001: /* event masks */ done(c, op, OK); return;
    case 0x0c03: /* Reset */
        reset(c);
        done(c, op, OK);
        return;
    case 0x0c2d: /* Read Transmit Power Level */
        r[0] = l ? OK : NO_CONN;
        put16(r + 1, h);
        complete(c, op, r, 4);
        return;
    case 0x1001: /* Read Local Version */
        r[1] = 9;
        r[4] = 9;
        put16(r + 5, 0xffff);
        put16(r + 7, 1);
        complete(c, op, r, 9);
        return;
    case 0x1002: /* Read Local Supported Commands */
        SET(r + 1, bits_common);
        if (c->ext)
            SET(r + 1, bits_ext);
        else
            SET(r + 1, bits_legacy);
        complete(c, op, r, 65);
        return;
    case 0x1003:         /* Read Local Supported Features */
        r[1 + 4] = 0x60; /* no BR/EDR, LE */
        complete(c, op, r, 9);
        return;
    case 0x1009: /* Read BD_ADDR */
        memcpy(r + 1, c->addr, 6);
        complete(c, op, r, 7);
        return;
    case 0x1405: /* Read RSSI */
        r[0] = l ? OK : NO_CONN;
        put16(r + 1, h);
        r[3] = l && l->e[!me].c ? rssi[c->n][l->e[!me].c->n] : -100;
        complete(c, op, r, 4);
        return;
    case 0x2002: /* LE Read Buffer Size */
        put16(r + 1, ACLLEN);
        r[3] = ACLNUM;
        complete(c, op, r, 4);
        return;
    case 0x2003: /* LE Read Local Features */
        features(c, r + 1);
        complete(c, op, r, 9);
        return;
    case 0x2005: /* LE Set Random Address */
        if (!c->ext && (a->on || c->scan.on || c->init.on)) {
            done(c, op, DISALLOWED);
            return;
        }
        memcpy(c->raddr, p, 6);
        c->has_raddr = 1;
        done(c, op, OK);
        return;
    case 0x2007: /* LE Read Advertising TX Power */ complete(c, op, r, 2); return;
    case 0x200f: /* LE Read Accept List Size */
        r[1] = MAXLIST;
        complete(c, op, r, 2);
        return;
    case 0x2010: /* Clear Accept List */
        c->nlist = 0;
        done(c, op, OK);
        return;
    case 0x2011: /* Add to Accept List */
        if (!on_list(c, p[0], p + 1)) {
            if (c->nlist == MAXLIST) {
                done(c, op, MEM_FULL);
                return;
            }
            c->list[c->nlist].type = p[0];
            memcpy(c->list[c->nlist++].addr, p + 1, 6);
        }
        done(c, op, OK);
        return;
    case 0x2012: /* Remove from Accept List */
        for (int i = 0; i < c->nlist; i++)
            if (c->list[i].type == p[0] && !memcmp(c->list[i].addr, p + 1, 6)) {
                c->list[i] = c->list[--c->nlist];
                break;
            }
        done(c, op, OK);
        return;
    case 0x2013: /* Connection Update */
        if (!l || me) {
            status(c, op, l ? DISALLOWED : NO_CONN);
            return;
        }
        status(c, op, OK);
        l->interval = get16(p + 4);
        l->latency = get16(p + 6);
        l->timeout = get16(p + 8);
        for (int k = 0; k < 2; k++) {
            if (!l->e[k].c)
                continue;
            put16(r + 1, l->e[k].h);
            put16(r + 3, l->interval);
            put16(r + 5, l->latency);
            put16(r + 7, l->timeout);
            meta(l->e[k].c, 0x03, r, 9);
        }
        return;
    case 0x2016: /* Read Remote Features */
        status(c, op, l ? OK : NO_CONN);
        if (l) {
            put16(r + 1, h);
            features(l->e[!me].c ? l->e[!me].c : c, r + 3);
            meta(c, 0x04, r, 11);
        }
        return;
    case 0x2018: /* Rand */
        for (int i = 1; i < 9; i++)
            r[i] = rand() >> 7;
        complete(c, op, r, 9);
        return;
    case 0x2019: /* Start Encryption */
        if (!l || me) {
            status(c, op, l ? DISALLOWED : NO_CONN);
            return;
        }
        status(c, op, OK);
        if (!in_reach(l))
            return;
        memcpy(l->ltk, p + 12, 16);
        l->encrypting = 1;
        put16(r, l->e[1].h);
        memcpy(r + 2, p + 2, 10);
        meta(l->e[1].c, 0x05, r, 12);
        return;
    case 0x201a:
    case 0x201b: /* LTK Request Reply, Negative Reply */
        r[0] = l && l->encrypting ? OK : l ? DISALLOWED : NO_CONN;
        put16(r + 1, h);
        complete(c, op, r, 3);
        if (r[0])
            return;
        if (op == 0x201b) {
            encryption(l, KEY_MISSING);
        } else if (memcmp(p + 2, l->ltk, 16)) {
            ended(&l->e[0], MIC_FAILURE);
            ended(&l->e[1], MIC_FAILURE);
            forget(l);
        } else {
            encryption(l, OK);
        }
        return;
    case 0x201c: /* Read Supported States */
        memset(r + 1, 0xff, 5);
        r[6] = 0x03;
        complete(c, op, r, 9);
        return;
    case 0x2022: /* Set Data Length */
        r[0] = l ? OK : NO_CONN;
        put16(r + 1, h);
        complete(c, op, r, 3);
        return;
    case 0x2023: /* Read Suggested Default Data Length */
        put16(r + 1, c->def_octets);
        put16(r + 3, c->def_time);
        complete(c, op, r, 5);
        return;
    case 0x2024: /* Write Suggested Default Data Length */
        c->def_octets = get16(p);
        c->def_time = get16(p + 2);
        done(c, op, OK);
        return;
    case 0x202f: /* Read Maximum Data Length */
        put16(r + 1, 251);
        put16(r + 3, 2120);
        put16(r + 5, 251);
        put16(r + 7, 2120);
        complete(c, op, r, 9);
        return;
    case 0x200e: /* Create Connection Cancel */
        done(c, op, c->init.on ? OK : DISALLOWED);
        if (c->init.on) {
            c->init.on = 0;
            conn_complete(NULL, 0, NO_CONN, c, c->init.type, c->init.peer);
        }
        return;
    }

    if (!c->ext)
        switch (op) {
        case 0x2006: /* Set Advertising Parameters */
            if (a->on) {
                done(c, op, DISALLOWED);
                return;
            }
            a->interval = get16(p);
            switch (p[4]) {
            case 0: a->props = CONNECTABLE | SCANNABLE; break;
            case 1:
            case 4: a->props = CONNECTABLE | DIRECTED; break;
            case 2: a->props = SCANNABLE; break;
            case 3: a->props = 0; break;
            default: done(c, op, INVALID); return;
            }
            a->props |= LEGACY;
            a->own = p[5];
            a->dtype = p[6] & 1;
            memcpy(a->daddr, p + 7, 6);
            a->policy = p[14];
            done(c, op, OK);
            return;
        case 0x2008:
        case 0x2009: /* Set Advertising Data, Scan Response Data */
            if (p[0] > 31) {
                done(c, op, INVALID);
                return;
            }
            if (op == 0x2008) {
                a->dlen = p[0];
                memcpy(a->data, p + 1, p[0]);
            } else {
                a->rlen = p[0];
                memcpy(a->rsp, p + 1, p[0]);
            }
            done(c, op, OK);
            return;
        case 0x200a: /* Set Advertising Enable */
            if (p[0])
                done(c, op, a->on ? OK : start_adv(c, a, 0, 0));
            else {
                a->on = 0;
                done(c, op, OK);
            }
            return;
        case 0x200b: /* Set Scan Parameters */
            if (c->scan.on) {
                done(c, op, DISALLOWED);
                return;
            }
            c->scan.active = p[0];
            c->scan.own = p[5];
            c->scan.policy = p[6];
            done(c, op, OK);
            return;
        case 0x200c: /* Set Scan Enable */
            if (p[0] && (c->scan.own & 1) && !c->has_raddr) {
                done(c, op, INVALID);
                return;
            }
            c->scan.on = p[0];
            c->scan.dup = p[1];
            c->scan.until = 0;
            c->nseen = 0;
            done(c, op, OK);
            return;
        case 0x200d: /* Create Connection */ begin_connect(c, op, p[4], p[5], p + 6, p[12], p + 13); return;
        }
    else
        switch (op) {
        case 0x2035: /* Set Advertising Set Random Address */
            if (!(a = adv_set(c, p[0], 0))) {
                done(c, op, UNKNOWN_ADV);
                return;
            }
            memcpy(a->raddr, p + 1, 6);
            a->has_raddr = 1;
            done(c, op, OK);
            return;
        case 0x2036: /* Set Extended Advertising Parameters */
            if (!(a = adv_set(c, p[0], 1))) {
                r[0] = MEM_FULL;
                complete(c, op, r, 2);
                return;
            }
            if (a->on) {
                r[0] = DISALLOWED;
                complete(c, op, r, 2);
                return;
            }
            a->props = get16(p + 1) & 0x1f;
            if (get16(p + 1) & 0x08) /* high duty cycle directed */
                a->props &= ~0x08;
            a->interval = get24(p + 3);
            a->own = p[10];
            a->dtype = p[11] & 1;
            memcpy(a->daddr, p + 12, 6);
            a->policy = p[18];
            a->sid = p[23];
            complete(c, op, r, 2);
            return;
        case 0x2037:
        case 0x2038: /* Set Extended Advertising Data, Scan Response Data */
            if (!(a = adv_set(c, p[0], 0))) {
                done(c, op, UNKNOWN_ADV);
                return;
            }
            if ((a->props & LEGACY) && p[3] > 31) {
                done(c, op, INVALID);
                return;
            }
            done(c, op,
                 op == 0x2037 ? put_data(a->data, &a->dlen, p[1], p + 4, p[3])
                              : put_data(a->rsp, &a->rlen, p[1], p + 4, p[3]));
            return;
        case 0x2039: /* Set Extended Advertising Enable */
            if (!p[0] && !p[1])
                for (int i = 0; i < MAXADV; i++)
                    c->adv[i].on = 0;
            for (int i = 0; i < p[1]; i++) {
                const uint8_t *q = p + 2 + 4 * i;

                if (!(a = adv_set(c, q[0], 0))) {
                    done(c, op, UNKNOWN_ADV);
                    return;
                }
                if (!p[0])
                    a->on = 0;
                else if ((r[0] = start_adv(c, a, get16(q + 1), q[3]))) {
                    done(c, op, r[0]);
                    return;
                }
            }
            done(c, op, OK);
            return;
        case 0x203a: /* Read Maximum Advertising Data Length */
            put16(r + 1, 1650);
            complete(c, op, r, 3);
            return;
        case 0x203b: /* Read Number of Supported Advertising Sets */
            r[1] = MAXADV;
            complete(c, op, r, 2);
            return;
        case 0x203c: /* Remove Advertising Set */
            if (!(a = adv_set(c, p[0], 0))) {
                done(c, op, UNKNOWN_ADV);
                return;
            }
            if (a->on) {
                done(c, op, DISALLOWED);
                return;
            }
            a->used = 0;
            done(c, op, OK);
            return;
        case 0x203d: /* Clear Advertising Sets */
            for (int i = 0; i < MAXADV; i++)
                if (c->adv[i].on) {
                    done(c, op, DISALLOWED);
                    return;
                }
            memset(c->adv, 0, sizeof(c->adv));
            done(c, op, OK);
            return;
        case 0x2041: /* Set Extended Scan Parameters */
            if (c->scan.on) {
                done(c, op, DISALLOWED);
                return;
            }
            c->scan.own = p[0];
            c->scan.policy = p[1];
            c->scan.active = p[3];
            done(c, op, OK);
            return;
        case 0x2042: /* Set Extended Scan Enable */
            if (p[0] && (c->scan.own & 1) && !c->has_raddr) {
                done(c, op, INVALID);
                return;
            }
            c->scan.on = p[0];
            c->scan.dup = p[1];
            c->scan.until = p[0] && get16(p + 2) ? now() + get16(p + 2) * 10 : 0;
            c->nseen = 0;
            done(c, op, OK);
            return;
        case 0x2043: /* Extended Create Connection */ begin_connect(c, op, p[0], p[2], p + 3, p[1], p + 10 + 4); return;
        }
    trace("hci%d: unknown command 0x%04x", c->hci, op);
    done(c, op, UNKNOWN_CMD);
}
