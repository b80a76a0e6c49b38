/* What is due: advertising events, ends of scans, data, supervision timeouts. */
#include "air.h"

millis tick(void) {
    millis t = now(), next = t + 1000;
#define SOON(x)                                                                                                        \
    do {                                                                                                               \
        millis x_ = (x);                                                                                               \
        if (x_ < next)                                                                                                 \
            next = x_;                                                                                                 \
    } while (0)

    for (int i = 0; i < controller_count; i++) {
        struct controller *c = &controllers[i];

        for (int k = 0; k < MAXADV; k++) {
            struct adv *a = &c->adv[k];

            if (a->on && a->next <= t) {
                advertise(c, a);
                a->next = t + period(a);
            }
            if (a->on && a->until && a->until <= t)
                stop_adv(c, a, ADV_TIMEOUT, 0);
            if (a->on && a->max_events && a->events >= a->max_events)
                stop_adv(c, a, 0x43, 0);
            if (a->on) {
                SOON(a->next);
                if (a->until)
                    SOON(a->until);
            }
        }
        if (c->scan.on && c->scan.until) {
            if (c->scan.until <= t) {
                c->scan.on = 0;
                meta(c, 0x11, "", 0);
            } else
                SOON(c->scan.until);
        }
    }
    for (int i = 0; i < MAXLINK; i++) {
        struct link *l = &links[i];

        if (!l->used)
            continue;
        if (in_reach(l)) {
            l->lost_at = 0;
            if (!paced) {
                carry(l, 0, QMAX);
                carry(l, 1, QMAX);
            } else if (l->next_event <= t) {
                carry(l, 0, PACE_MAX);
                carry(l, 1, PACE_MAX);
                l->next_event = t + l->interval * 5 / 4;
            }
            if (paced && (l->e[0].q || l->e[1].q))
                SOON(l->next_event);
            continue;
        }
        if (!l->lost_at)
            l->lost_at = t;
        if (t - l->lost_at >= l->timeout * 10) {
            count.lost++;
            ended(&l->e[0], TIMED_OUT);
            ended(&l->e[1], TIMED_OUT);
            forget(l);
        } else
            SOON(l->lost_at + l->timeout * 10);
    }
    return next - t;
}
