/* Preloaded into a process: a slow disk and a clock that is set, as the file named by CHAOS_MACHINE says now.
 *
 * The file is mapped, so a change of it reaches all running processes at the same moment. fsync and fdatasync
 * wait first; the wall clock is shifted. Monotonic clocks run on, as on a machine whose clock is set.
 *
 * Not libfaketime (0.9.10): it takes over pthread_cond_timedwait, by which Python's threads hand over the
 * interpreter, and makes a handover 4 ms instead of 10 us; its clock_nanosleep fails with EINVAL for
 * time.sleep(0). */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct machine {
    int64_t clock_offset_s;
    int64_t fsync_delay_us;
};

static const volatile struct machine *machine;

__attribute__((constructor)) static void map_machine(void) {
    const char *path = getenv("CHAOS_MACHINE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof *machine, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED)
        machine = mapped;
}

static int sync_slowly(const char *name, int fd) {
    int64_t wait = machine ? machine->fsync_delay_us : 0;
    if (wait > 0) {
        struct timespec span = {wait / 1000000, (wait % 1000000) * 1000};
        nanosleep(&span, NULL);
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(fd);
}

int fsync(int fd) { return sync_slowly("fsync", fd); }

int fdatasync(int fd) { return sync_slowly("fdatasync", fd); }

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) /* perhaps twice, by two threads: with the same result */
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real ? real(which, now) : (int)syscall(SYS_clock_gettime, which, now);
    if (!failed && machine && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        now->tv_sec += machine->clock_offset_s;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact))
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact))
        return (time_t)-1;
    if (told)
        *told = exact.tv_sec;
    return exact.tv_sec;
}
