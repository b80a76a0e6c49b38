/* What the parts of vair share. */
#ifndef AIR_H
#define AIR_H

#include <stddef.h>
#include <stdint.h>

enum {
    MAXC = 32,
    MAXADV = 8,
    MAXLINK = 512,
    MAXLIST = 32,
    SEEN = 512,
    ACLLEN = 251,
    ACLNUM = 8,
    QMAX = 64,
    PACE_MAX = 6
};
enum {
    OK = 0x00,
    UNKNOWN_CMD = 0x01,
    NO_CONN = 0x02,
    KEY_MISSING = 0x06,
    MEM_FULL = 0x07,
    TIMED_OUT = 0x08,
    CONN_LIMIT = 0x09,
    DISALLOWED = 0x0c,
    INVALID = 0x12,
    REMOTE_ENDED = 0x13,
    LOCAL_ENDED = 0x16,
    MIC_FAILURE = 0x3d,
    UNKNOWN_ADV = 0x42,
    ADV_TIMEOUT = 0x3c
};
enum { CONNECTABLE = 1, SCANNABLE = 2, DIRECTED = 4, LEGACY = 0x10 };

typedef int64_t millis;

struct adv {
    int used, on, props, own, policy, sid;
    uint8_t handle, addr[6], raddr[6], has_raddr, dtype, daddr[6];
    uint8_t data[1650], rsp[1650];
    int dlen, rlen, interval, max_events, events;
    millis next, until;
};

struct listed {
    uint8_t type, addr[6];
};

struct controller {
    int n, fd, hci, ext, limit;
    uint8_t addr[6], raddr[6], has_raddr;
    struct adv adv[MAXADV];
    struct {
        int on, active, dup, own, policy;
        millis until;
    } scan;
    uint64_t seen[SEEN];
    int nseen;
    struct listed list[MAXLIST];
    int nlist;
    struct {
        int on, policy, own, interval, latency, timeout;
        uint8_t type, peer[6];
    } init;
    uint16_t next_handle, def_octets, def_time;
    int refuse; /* attempts to connect that are still to fail once the peer is heard, and with which status */
    uint8_t refusal;
    int disallow; /* attempts to connect that are not even to begin, and with which status */
    uint8_t objection;
};

struct packet {
    struct packet *next;
    uint16_t len;
    uint8_t d[];
};

struct end {
    struct controller *c;
    uint16_t h;
    int own;
    uint8_t addr[6];        /* the address this end uses on the link */
    struct packet *q, **qt; /* packets this end has sent that have not crossed yet */
    int qn;
};

struct link {
    int used, gone;  /* gone: the far end vanished; the other still waits out the supervision timeout */
    struct end e[2]; /* 0 central, 1 peripheral */
    int interval, latency, timeout, encrypting, encrypted;
    uint8_t ltk[16];
    millis lost_at, next_event;
};

/* The air: controllers, links, and what lies between each two. rssi[A][B] is what A measures of B. */
extern struct controller controllers[MAXC];
extern struct link links[MAXLINK];
extern int controller_count, verbose, paced, longest_interval;
extern uint8_t apart[MAXC][MAXC], loss[MAXC][MAXC], deaf[MAXC][MAXC];
extern int8_t rssi[MAXC][MAXC];
struct counters {
    unsigned long adv, report, conn, acl, lost;
};
extern struct counters count;

static inline uint16_t get16(const uint8_t *p) { return p[0] | p[1] << 8; }
static inline uint32_t get24(const uint8_t *p) { return p[0] | p[1] << 8 | p[2] << 16; }
static inline void put16(uint8_t *p, unsigned v) {
    p[0] = v;
    p[1] = v >> 8;
}

millis now(void);
void trace(const char *f, ...) __attribute__((format(printf, 1, 2)));
void to_host(struct controller *c, const uint8_t *d, int len);
void event(struct controller *c, uint8_t code, const void *d, int len);
void meta(struct controller *c, uint8_t sub, const void *d, int len);
void complete(struct controller *c, uint16_t op, const void *d, int len);
void done(struct controller *c, uint16_t op, uint8_t st);
void status(struct controller *c, uint16_t op, uint8_t st);
void sent_packets(struct controller *c, uint16_t h, int n);
int hears(struct controller *a, struct controller *b);
struct link *find(struct controller *c, uint16_t h, int *me);
int links_of(struct controller *c);
void ended(struct end *e, uint8_t reason);
void forget(struct link *l);
int in_reach(struct link *l);
void carry(struct link *l, int from, int most);
void acl(struct controller *c, const uint8_t *d, int len);
void conn_complete(struct link *l, int me, uint8_t st, struct controller *c, int type, const uint8_t *peer);
void join(struct controller *ini, struct controller *per, struct adv *a);
void encryption(struct link *l, uint8_t st);
void reset(struct controller *c);
void stop_adv(struct controller *c, struct adv *a, uint8_t st, uint16_t h);
int on_list(struct controller *c, int type, const uint8_t *addr);
void advertise(struct controller *c, struct adv *a);
int period(struct adv *a);
uint8_t start_adv(struct controller *c, struct adv *a, int duration, int max_events);
struct adv *adv_set(struct controller *c, uint8_t handle, int make);
uint8_t put_data(uint8_t *to, int *len, int op, const uint8_t *d, int n);
void command(struct controller *c, const uint8_t *d, int len);
millis tick(void);
void plug(struct controller *c);
void unplug(struct controller *c);
void control(char *line, char *out, size_t n);

#endif
