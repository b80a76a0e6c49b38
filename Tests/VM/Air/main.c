/*
 * vair: a virtual Bluetooth LE air.
 *
 * Creates LE controllers on /dev/vhci and carries advertising, connections, data and encryption between them, so that
 * the kernel's whole host stack above HCI runs for real. Any number of links for each controller, in both roles at
 * once; advertising is heard again and again at its interval, as on a radio; a control socket takes controllers out of
 * each other's range, drops links, sets RSSI, unplugs. What it lacks: privacy in the controller, the connection
 * parameter request procedure, PHYs, periodic advertising, ISO, BR/EDR, collisions and scan windows.
 *
 *   vair [-n COUNT] [-e LIST|all] [-i MS] [-m LINKS] [-p] [-v] [-s SOCKET]
 *
 *   -n  controllers, 3 by default        -e  which of them have extended advertising (Bluetooth 5)
 *   -i  longest advertising interval, 250 ms by default, 0 for any
 *   -m  links of each controller, 8      -p  data crosses at connection events only
 *   -v  log to standard error            -s  control socket, /run/vm/vair.sock by default
 *
 *   vair -c "COMMAND" [-s SOCKET]        "help" lists the commands
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "air.h"

struct controller controllers[MAXC];
struct link links[MAXLINK];
int controller_count = 3, verbose, paced, longest_interval = 250;
uint8_t apart[MAXC][MAXC], loss[MAXC][MAXC], deaf[MAXC][MAXC];
int8_t rssi[MAXC][MAXC];
struct counters count;

static int unix_socket(const char *path, int serve) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    if (serve)
        unlink(path);
    if (s < 0 || (serve ? bind(s, (void *)&a, sizeof(a)) || listen(s, 8) : connect(s, (void *)&a, sizeof(a)))) {
        perror(path);
        exit(1);
    }
    return s;
}

static volatile sig_atomic_t stop;
static void on_signal(int s) {
    (void)s;
    stop = 1;
}

int main(int argc, char **argv) {
    const char *sock = "/run/vm/vair.sock", *ext = "", *cmd = NULL;
    int opt, limit = 8, serve;
    struct pollfd f[MAXC + 1];

    while ((opt = getopt(argc, argv, "n:e:i:m:pvs:c:")) != -1)
        switch (opt) {
        case 'n': controller_count = atoi(optarg); break;
        case 'e': ext = optarg; break;
        case 'i': longest_interval = atoi(optarg); break;
        case 'm': limit = atoi(optarg); break;
        case 'p': paced = 1; break;
        case 'v': verbose = 1; break;
        case 's': sock = optarg; break;
        case 'c': cmd = optarg; break;
        default: return 2;
        }
    if (cmd) {
        char b[16384];
        int s = unix_socket(sock, 0), n, bad = 0, first = 1;

        if (write(s, cmd, strlen(cmd)) < 0 || write(s, "\n", 1) < 0)
            return 1;
        while ((n = read(s, b, sizeof(b))) > 0) {
            if (first)
                bad = n >= 5 && !memcmp(b, "error", 5);
            first = 0;
            fwrite(b, 1, n, stdout);
        }
        return bad;
    }
    if (controller_count < 1 || controller_count > MAXC) {
        fprintf(stderr, "vair: 1 to %d controllers\n", MAXC);
        return 2;
    }
    memset(rssi, -60, sizeof(rssi));
    srand(time(NULL));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    for (int i = 0; i < controller_count; i++) {
        struct controller *c = &controllers[i];
        char num[8];
        const char *at;

        c->n = i;
        c->limit = limit;
        c->next_handle = 0x40 + 0x31 * i;
        c->def_octets = 27;
        c->def_time = 328;
        memcpy(c->addr, (uint8_t[]){i + 1, 0x00, 0x5e, 0xa1, 0x00, 0x02}, 6);
        snprintf(num, sizeof(num), "%d", i);
        at = strstr(ext, num);
        c->ext = !strcmp(ext, "all") || (at && (at == ext || at[-1] == ',') && strchr(",", at[strlen(num)]));
        plug(c);
        if (c->fd < 0) {
            perror("/dev/vhci");
            return 1;
        }
    }
    serve = unix_socket(sock, 1);
    printf("vair: %d controllers\n", controller_count);
    fflush(stdout);
    while (!stop) {
        millis wait = tick();

        for (int i = 0; i < controller_count; i++)
            f[i] = (struct pollfd){.fd = controllers[i].fd, .events = POLLIN};
        f[controller_count] = (struct pollfd){.fd = serve, .events = POLLIN};
        if (poll(f, controller_count + 1, wait < 0 ? 0 : (int)wait) < 0)
            continue;
        for (int i = 0; i < controller_count; i++)
            for (int burst = 0; burst < 16 && (f[i].revents & POLLIN); burst++) {
                uint8_t b[2048];
                int n = read(controllers[i].fd, b, sizeof(b));

                if (n <= 0)
                    break;
                if (b[0] == 1)
                    command(&controllers[i], b + 1, n - 1);
                else if (b[0] == 2 && n >= 5)
                    acl(&controllers[i], b, n);
            }
        if (f[controller_count].revents & POLLIN) {
            static char in[256], out[32768];
            int s = accept4(serve, NULL, NULL, SOCK_CLOEXEC), n = 0, k;
            struct timeval tv = {1, 0};

            setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
            while (n < (int)sizeof(in) - 1 && !memchr(in, '\n', n) && (k = read(s, in + n, sizeof(in) - 1 - n)) > 0)
                n += k;
            in[n] = 0;
            control(in, out, sizeof(out));
            if (write(s, out, strlen(out)) < 0)
                trace("control: %s", strerror(errno));
            close(s);
        }
    }
    unlink(sock);
    return 0;
}
