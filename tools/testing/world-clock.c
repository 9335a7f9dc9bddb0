/* Loaded into a server before the C library, this is the date of a simulated world: microseconds since 1970, which the
 * world writes into the file CLOCK_FILE; while that holds 0, the real date. Clocks that only grow are left alone. The
 * seed of the server's hash tables is always the same, so that equal data has an equal order. */
#define _GNU_SOURCE
#include "date-calls.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const volatile int64_t *world_us;

__attribute__((constructor)) static void begin(void) {
  int file = open(CLOCK_FILE, O_RDONLY);
  if (file < 0) return;
  void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) world_us = page;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int64_t us = world_us && clock == CLOCK_REALTIME ? *world_us : 0;
  if (us == 0) return (int)syscall(SYS_clock_gettime, clock, now);
  now->tv_sec = us / 1000000;
  now->tv_nsec = us % 1000000 * 1000;
  return 0;
}

static FILE *open_as(const char *call, const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, call);
  return next(strcmp(path, "/dev/urandom") ? path : "/dev/zero", mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode) { return open_as("fopen", path, mode); }

FILE *fopen64(const char *restrict path, const char *restrict mode) { return open_as("fopen64", path, mode); }
