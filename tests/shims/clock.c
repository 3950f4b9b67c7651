/* Shifts the wall clock by $CLOCK_SHIFT seconds. Clocks that cannot be set are unchanged. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift(void) {
    const char *text = getenv("CLOCK_SHIFT");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    int failed = (int)syscall(SYS_clock_gettime, id, time);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
    return failed;
}

int gettimeofday(struct timeval *time, void *zone) {
    int failed = (int)syscall(SYS_gettimeofday, time, zone);
    if (!failed && time) time->tv_sec += shift();
    return failed;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
