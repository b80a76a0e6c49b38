#pragma once
// libevent's configuration header defines _GNU_SOURCE. Fixing glibc's feature macros first keeps the system types here
// identical to those of the Glibc module.
#include <features.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
// What stands behind the library here, to ask which descriptors it refuses.
#include <sys/epoll.h>
