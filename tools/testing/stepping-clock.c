/* Loaded into a server before the C library, this is the date of a badly kept machine: it jumps at each SIGUSR2, 20
 * seconds forward and then back again. Clocks that only grow are left alone. */
#define _GNU_SOURCE
#include "date-calls.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t jumps;
static const time_t step = 20;

static void jump(int number) {
  (void)number;
  jumps++;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_handler = jump, .sa_flags = SA_RESTART};
  sigaction(SIGUSR2, &action, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && clock == CLOCK_REALTIME && jumps % 2) now->tv_sec += step;
  return failed;
}
