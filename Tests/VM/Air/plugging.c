/* Controllers come and go on /dev/vhci. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "air.h"

void unplug(struct controller *c) {
    if (c->fd < 0)
        return;
    reset(c);
    close(c->fd);
    c->fd = -1;
}

/* Makes a controller known to the kernel; c->fd is negative when it was not to be. */
void plug(struct controller *c) {
    uint8_t req[2] = {0xff, 0}, rsp[260];
    int n;

    memset(c->adv, 0, sizeof(c->adv));
    c->adv[0].used = !c->ext;
    c->fd = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    if (c->fd < 0)
        return;
    n = write(c->fd, req, 2) == 2 ? 0 : -1;
    /* The answer names the controller; a command may come before it. */
    while (n >= 0) {
        n = read(c->fd, rsp, sizeof(rsp));
        if (n >= 4 && rsp[0] == 0xff) {
            c->hci = get16(rsp + 2);
            fcntl(c->fd, F_SETFL, O_NONBLOCK);
            return;
        }
        if (n > 1 && rsp[0] == 1)
            command(c, rsp + 1, n - 1);
    }
    close(c->fd);
    c->fd = -1;
}
