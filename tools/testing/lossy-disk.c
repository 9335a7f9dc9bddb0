/* Loaded into a server before the C library, this is a disk of a machine that loses its power: what the
 * server writes to its append-only file is kept in memory until it is fsynced. SIGKILL is the power cut. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static char *held;
static size_t size, room;

static int put_down(void) {
  size_t done = 0;
  while (done < size) {
    ssize_t some = syscall(SYS_write, file, held + done, size - done);
    if (some < 0) return -1;
    done += (size_t)some;
  }
  size = 0;
  return 0;
}

static int hold(const void *bytes, size_t count) {
  if (size + count > room) {
    size_t more = 2 * (size + count);
    char *grown = realloc(held, more);
    if (!grown) return -1;
    held = grown;
    room = more;
  }
  memcpy(held + size, bytes, count);
  size += count;
  return 0;
}

static int is_log(const char *path, int flags) {
  static const char ending[] = ".incr.aof";
  size_t length = strlen(path);
  size_t tail = sizeof ending - 1;
  return (flags & O_ACCMODE) != O_RDONLY && length >= tail && strcmp(path + length - tail, ending) == 0;
}

int open64(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (opened >= 0 && is_log(path, flags)) {
    pthread_mutex_lock(&lock);
    if (file >= 0) put_down();
    file = opened;
    pthread_mutex_unlock(&lock);
  }
  return opened;
}

ssize_t write(int to, const void *bytes, size_t count) {
  pthread_mutex_lock(&lock);
  int is_held = to == file && hold(bytes, count) == 0;
  pthread_mutex_unlock(&lock);
  return is_held ? (ssize_t)count : syscall(SYS_write, to, bytes, count);
}

static int sync_with(long call, int of) {
  pthread_mutex_lock(&lock);
  int failed = of == file ? put_down() : 0;
  pthread_mutex_unlock(&lock);
  return failed ? -1 : (int)syscall(call, of);
}

int fdatasync(int of) { return sync_with(SYS_fdatasync, of); }

int fsync(int of) { return sync_with(SYS_fsync, of); }

int close(int which) {
  pthread_mutex_lock(&lock);
  if (which == file) {
    put_down();
    file = -1;
  }
  pthread_mutex_unlock(&lock);
  return (int)syscall(SYS_close, which);
}
