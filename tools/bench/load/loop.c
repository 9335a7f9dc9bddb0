// One epoll loop per thread. Whatever a read brings is answered with one write, as a busy peer does.
#define _GNU_SOURCE
#include "load.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 65536
#define EVENTS 256
#define TICK_MS 1000
#define NANOSECONDS ((uint64_t)1000000000)

unsigned char *buffer_reserve(buffer *b, size_t size) {
  if (b->start == b->end) b->start = b->end = 0;
  if (b->room - b->end < size && b->start > 0) {
    memmove(b->bytes, b->bytes + b->start, b->end - b->start);
    b->end -= b->start;
    b->start = 0;
  }
  if (b->room - b->end < size) {
    b->room = (b->end + size) * 2;
    b->bytes = realloc(b->bytes, b->room);
    if (!b->bytes) fail("no memory for a buffer of %zu bytes", b->room);
  }
  return b->bytes + b->end;
}

void buffer_append(buffer *b, const void *bytes, size_t size) {
  memcpy(buffer_reserve(b, size), bytes, size);
  b->end += size;
}

void loop_open(loop *l, run *r, int count) {
  l->epoll = epoll_create1(0);
  l->wake = eventfd(0, EFD_NONBLOCK);
  l->run = r;
  l->count = count;
  l->links = calloc((size_t)count, sizeof *l->links);
  if (l->epoll < 0 || l->wake < 0 || !l->links) fail("cannot open a loop: %s", strerror(errno));
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &event);
}

void loop_connect(loop *l, int index, int port, void (*on_bytes)(link_t *)) {
  link_t *c = &l->links[index];
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = 1;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0) fail("socket: %s", strerror(errno));
  if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) fail("port %d: %s", port, strerror(errno));
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  c->index = index;
  c->run = l->run;
  c->loop = l;
  c->on_bytes = on_bytes;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void want_write(link_t *c, bool wanted) {
  if (c->wants_write == wanted) return;
  c->wants_write = wanted;
  struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(c->loop->epoll, EPOLL_CTL_MOD, c->fd, &event);
}

void link_flush(link_t *c) {
  while (c->out.start < c->out.end) {
    ssize_t n = send(c->fd, c->out.bytes + c->out.start, c->out.end - c->out.start, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) fail("write: %s", strerror(errno));
    c->out.start += (size_t)n;
  }
  want_write(c, c->out.start < c->out.end);
}

static void link_read(link_t *c) {
  unsigned char *to = buffer_reserve(&c->in, READ_BYTES);
  ssize_t n = recv(c->fd, to, c->in.room - c->in.end, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n < 0) fail("read: %s", strerror(errno));
  if (n == 0) fail("the server closed connection %d", c->index);
  c->in.end += (size_t)n;
  c->on_bytes(c);
}

// Ends the program where nothing has happened for long: a lost job would be waited for for ever.
static void check_stall(const run *r, uint32_t *progress, uint64_t *since_ns) {
  uint32_t now = r->ready + r->created + r->worked + r->heard + r->settled;
  if (now != *progress) {
    *progress = now;
    *since_ns = now_ns();
  } else if (now_ns() - *since_ns > (uint64_t)r->set.stall_s * NANOSECONDS) {
    fail("stalled: of %u jobs %u were created, %u worked on, %u heard of", r->set.jobs, r->created,
         r->worked, r->heard);
  }
}

void *loop_serve(void *given) {
  loop *l = given;
  struct epoll_event events[EVENTS];
  uint32_t progress = 0;
  uint64_t since_ns = now_ns();
  for (int i = 0; i < l->count; i++) link_flush(&l->links[i]);
  while (!atomic_load_explicit(&l->run->over, memory_order_relaxed)) {
    int n = epoll_wait(l->epoll, events, EVENTS, TICK_MS);
    for (int i = 0; i < n && !l->run->over; i++) {
      link_t *c = events[i].data.ptr;
      if (!c) continue;
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) link_read(c);
      link_flush(c);
    }
    if (n <= 0 && l->run->set.mode != REST) check_stall(l->run, &progress, &since_ns);
  }
  return NULL;
}

void loop_close(loop *l) {
  for (int i = 0; i < l->count; i++) {
    close(l->links[i].fd);
    free(l->links[i].in.bytes);
    free(l->links[i].out.bytes);
    free(l->links[i].sent_ns);
  }
  close(l->wake);
  close(l->epoll);
  free(l->links);
}

void run_finish(run *r) {
  r->ended_ns = now_ns();
  atomic_store(&r->over, true);
  uint64_t one = 1;
  for (int i = 0; i < 2; i++)
    if (r->loops[i] && write(r->loops[i]->wake, &one, sizeof one) < 0) fail("eventfd: %s", strerror(errno));
}
