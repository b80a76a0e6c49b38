/* Preloaded into a program: its system clock is off by as many seconds as a file says, from one reading to the next, and
 * the kernel vouches for it or not. The monotonic clock and the time since the start stay true.
 *
 * The file named by WRONG_CLOCK holds two numbers: seconds to add, and 1 where the clock counts as synchronised. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

static void read_file(long long *seconds, int *synchronised)
{
    const char *path = getenv("WRONG_CLOCK");
    FILE *file = path ? fopen(path, "r") : NULL;
    *seconds = 0;
    *synchronised = 0;
    if (!file) return;
    if (fscanf(file, "%lld %d", seconds, synchronised) != 2) *seconds = 0;
    fclose(file);
}

static long long shift(void)
{
    long long seconds;
    int synchronised;
    read_file(&seconds, &synchronised);
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*genuine)(clockid_t, struct timespec *);
    if (!genuine) genuine = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = genuine(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
    return result;
}

int gettimeofday(struct timeval *time, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int adjtimex(struct timex *state)
{
    long long seconds;
    int synchronised;
    read_file(&seconds, &synchronised);
    state->status = synchronised ? 0 : STA_UNSYNC;
    return synchronised ? TIME_OK : TIME_ERROR;
}
