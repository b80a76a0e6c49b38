/* Commands that steer the air. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "air.h"

static const char help[] =
    "list                    controllers, links, counters\n"
    "range A B on|off        whether A and B reach each other (index or *)\n"
    "rssi A B DBM            what A and B measure of each other\n"
    "loss A B PERCENT        advertising (and connection attempts) lost between them\n"
    "drop A B                end their links now, as by supervision timeout\n"
    "limit A LINKS           most links of a controller\n"
    "hears A B on|off        whether A takes notice of B's advertising\n"
    "refuse A COUNT STATUS   the next so many connections A begins fail, with that HCI status\n"
    "disallow A COUNT STATUS the next so many connections A is to begin it does not, with that HCI status\n"
    "unplug A                take a controller away; plug A brings it back, new and unconfigured\n"
    "reset                   all in range, no loss, RSSI -60\n";

static void say(char *out, size_t n, const char *f, ...) {
    size_t at = strlen(out);
    va_list a;

    va_start(a, f);
    vsnprintf(out + at, n - at, f, a);
    va_end(a);
}

static const char *hexaddr(const uint8_t *a) {
    static char s[4][18];
    static int k;

    k = (k + 1) % 4;
    snprintf(s[k], 18, "%02X:%02X:%02X:%02X:%02X:%02X", a[5], a[4], a[3], a[2], a[1], a[0]);
    return s[k];
}

void control(char *line, char *out, size_t n) {
    char cmd[16] = "", sa[8] = "", sb[8] = "", sv[16] = "";
    int a, b, v;

    out[0] = 0;
    sscanf(line, "%15s %7s %7s %15s", cmd, sa, sb, sv);
    if (!strcmp(cmd, "list")) {
        for (int i = 0; i < controller_count; i++)
            say(out, n, "controller %d hci%d %s%s links %d of %d%s%s%s\n", i, controllers[i].hci,
                hexaddr(controllers[i].addr), controllers[i].ext ? " extended" : "", links_of(&controllers[i]),
                controllers[i].limit, controllers[i].scan.on ? " scanning" : "",
                controllers[i].init.on ? " connecting" : "",
                controllers[i].scan.on && controllers[i].scan.active ? " actively" : "");
        for (int i = 0; i < controller_count; i++)
            for (int k = 0; k < MAXADV; k++)
                if (controllers[i].adv[k].on)
                    say(out, n, "advertiser %d set %d %s %s%s%d ms data %d rsp %d\n", i, controllers[i].adv[k].handle,
                        hexaddr(controllers[i].adv[k].addr),
                        controllers[i].adv[k].props & CONNECTABLE ? "connectable " : "",
                        controllers[i].adv[k].props & SCANNABLE ? "scannable " : "",
                        controllers[i].adv[k].interval * 5 / 8, controllers[i].adv[k].dlen, controllers[i].adv[k].rlen);
        for (int i = 0; i < MAXLINK; i++)
            if (links[i].used)
                say(out, n, "link %d -> %d handles %u %u interval %d latency %d timeout %d%s%s\n",
                    links[i].e[0].c ? links[i].e[0].c->n : -1, links[i].e[1].c ? links[i].e[1].c->n : -1,
                    links[i].e[0].h, links[i].e[1].h, links[i].interval, links[i].latency, links[i].timeout,
                    links[i].encrypted ? " encrypted" : "", in_reach(&links[i]) ? "" : " out of reach");
        say(out, n, "count advertisements %lu reports %lu connections %lu packets %lu lost links %lu\n", count.adv,
            count.report, count.conn, count.acl, count.lost);
        return;
    }
    if (!strcmp(cmd, "help") || !cmd[0]) {
        say(out, n, "%s", help);
        return;
    }
    if (!strcmp(cmd, "reset")) {
        memset(apart, 0, sizeof(apart));
        memset(deaf, 0, sizeof(deaf));
        memset(loss, 0, sizeof(loss));
        memset(rssi, -60, sizeof(rssi));
        say(out, n, "ok\n");
        return;
    }
    a = sa[0] == '*' ? -1 : atoi(sa);
    b = sb[0] == '*' ? -1 : atoi(sb);
    if (!strcmp(cmd, "limit") && a >= 0 && a < controller_count && sb[0]) {
        controllers[a].limit = b;
        say(out, n, "ok\n");
        return;
    }
    if (!strcmp(cmd, "refuse") && a >= 0 && a < controller_count && sb[0] && sv[0]) {
        controllers[a].refuse = b;
        controllers[a].refusal = strtol(sv, NULL, 0);
        say(out, n, "ok\n");
        return;
    }
    if (!strcmp(cmd, "disallow") && a >= 0 && a < controller_count && sb[0] && sv[0]) {
        controllers[a].disallow = b;
        controllers[a].objection = strtol(sv, NULL, 0);
        say(out, n, "ok\n");
        return;
    }
    if ((!strcmp(cmd, "unplug") || !strcmp(cmd, "plug")) && a >= 0 && a < controller_count) {
        if (cmd[0] == 'u')
            unplug(&controllers[a]);
        else if (controllers[a].fd < 0)
            plug(&controllers[a]);
        say(out, n, controllers[a].fd < 0 && cmd[0] == 'p' ? "error: no controller\n" : "ok\n");
        return;
    }
    v = !strcmp(sv, "off") ? 0 : !strcmp(sv, "on") ? 1 : atoi(sv);
    if (!sa[0] || !sb[0] || a >= controller_count || b >= controller_count || (!sv[0] && strcmp(cmd, "drop"))) {
        say(out, n, "error: not understood\n");
        return;
    }
    for (int i = 0; i < controller_count; i++)
        for (int k = 0; k < controller_count; k++) {
            if (i == k || !((a < 0 || i == a) && (b < 0 || k == b)))
                continue;
            if (!strcmp(cmd, "range"))
                apart[i][k] = apart[k][i] = !v;
            else if (!strcmp(cmd, "hears"))
                deaf[i][k] = !v;
            else if (!strcmp(cmd, "rssi"))
                rssi[i][k] = rssi[k][i] = v;
            else if (!strcmp(cmd, "loss"))
                loss[i][k] = loss[k][i] = v;
            else if (!strcmp(cmd, "drop")) {
                for (int j = 0; j < MAXLINK; j++)
                    if (links[j].used && ((links[j].e[0].c == &controllers[i] && links[j].e[1].c == &controllers[k]) ||
                                          (links[j].e[0].c == &controllers[k] && links[j].e[1].c == &controllers[i]))) {
                        count.lost++;
                        ended(&links[j].e[0], TIMED_OUT);
                        ended(&links[j].e[1], TIMED_OUT);
                        forget(&links[j]);
                    }
            } else {
                say(out, n, "error: unknown command\n");
                return;
            }
        }
    say(out, n, "ok\n");
}
