// Gearman clients and workers as stock libraries behave: a worker has one GRAB_JOB under way, sleeps
// when there is no job, and sends its result together with the next GRAB_JOB.
#include "load.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum {
  CAN_DO = 1, PRE_SLEEP = 4, NOOP = 6, SUBMIT_JOB = 7, JOB_CREATED = 8, GRAB_JOB = 9, NO_JOB = 10,
  JOB_ASSIGN = 11, WORK_COMPLETE = 13, ECHO_REQ = 16, ECHO_RES = 17, SUBMIT_JOB_BG = 18, ERROR = 19,
};
#define HEADER 12
#define MAX_HANDLE 64

typedef struct {
  uint32_t type;
  const unsigned char *body;
  size_t size;
} packet;

// A packet whose body has `size` bytes; returns where they go.
static unsigned char *begin_packet(link_t *c, uint32_t type, size_t size) {
  unsigned char *to = buffer_reserve(&c->out, HEADER + size);
  uint32_t words[2] = {htonl(type), htonl((uint32_t)size)};
  memcpy(to, "\0REQ", 4);
  memcpy(to + 4, words, 8);
  c->out.end += HEADER + size;
  return to + HEADER;
}

static bool next_packet(link_t *c, packet *p) {
  size_t held = c->in.end - c->in.start;
  const unsigned char *at = c->in.bytes + c->in.start;
  if (held < HEADER) return false;
  uint32_t words[2];
  memcpy(words, at + 4, 8);
  p->type = ntohl(words[0]);
  p->size = ntohl(words[1]);
  if (memcmp(at, "\0RES", 4) || p->size > 1u << 26) fail("the server sent no Gearman packet");
  if (held < HEADER + p->size) return false;
  p->body = at + HEADER;
  c->in.start += HEADER + p->size;
  if (p->type == ERROR) fail("the server said ERROR %.*s", (int)p->size, (const char *)p->body);
  return true;
}

// Length of the argument that ends in NUL; the packet must have one.
static size_t argument(const unsigned char *from, size_t size) {
  const unsigned char *nul = memchr(from, 0, size);
  if (!nul) fail("a packet of the server lacks an argument");
  return (size_t)(nul - from);
}

static uint64_t hash_of(const unsigned char *from, size_t size) {
  uint64_t hash = 14695981039346656037ull;
  for (size_t i = 0; i < size; i++) hash = (hash ^ from[i]) * 1099511628211ull;
  return hash ? hash : 1;
}

// ---- client ----------------------------------------------------------------------------------------------

// SUBMIT_JOB(_BG): function NUL unique NUL payload
static void submit(link_t *c) {
  const settings *set = &c->run->set;
  uint32_t number = c->first + c->submitted;
  size_t name = strlen(set->function), unique = set->unique ? DIGITS : 0;
  bool foreground = set->mode == FOREGROUND || set->mode == BRIDGE;
  unsigned char *to = begin_packet(c, foreground ? SUBMIT_JOB : SUBMIT_JOB_BG,
                                   name + 1 + unique + 1 + set->size);
  memcpy(to, set->function, name + 1);
  payload_write(to + name + 1 + unique + 1, number, set->size);
  memcpy(to + name + 1, to + name + 1 + unique + 1, unique);
  to[name + 1 + unique] = 0;
  if (c->sent_ns) c->sent_ns[c->submitted] = now_ns();
  c->submitted++;
}

static void fill_window(link_t *c) {
  enum mode mode = c->run->set.mode;
  uint32_t ended = mode == FOREGROUND || mode == BRIDGE ? c->heard : c->created;
  uint32_t most = ended + (uint32_t)c->run->set.window;
  if (most > c->quota) most = c->quota;
  while (c->submitted < most) submit(c);
}

void gearman_client_open(link_t *c, uint32_t first, uint32_t quota) {
  c->first = first;
  c->quota = quota;
  if (c->run->latency) c->sent_ns = calloc(quota, sizeof *c->sent_ns);
  fill_window(c);
}

// Answers to submissions come in their order.
static void on_created(link_t *c, const packet *p) {
  c->run->book->handles[c->first + c->created++] = hash_of(p->body, p->size);
  uint32_t created = atomic_fetch_add(&c->run->created, 1) + 1;
  if (c->run->set.mode == SUBMIT && created == c->run->set.jobs) run_finish(c->run);
}

// WORK_COMPLETE: handle NUL result, which must be the job's own payload
static void on_complete(link_t *c, const packet *p) {
  run *r = c->run;
  size_t handle = argument(p->body, p->size);
  int64_t number = payload_read(p->body + handle + 1, p->size - handle - 1, r->set.size);
  uint32_t place = (uint32_t)number - c->first;
  if (number < c->first || place >= c->created || r->book->handles[number] != hash_of(p->body, handle)) {
    atomic_fetch_add(&r->wrong, 1);
    return;
  }
  if (r->latency) histogram_add(r->latency, now_ns() - c->sent_ns[place]);
  r->book->heard[number]++;
  c->heard++;
  if (atomic_fetch_add(&r->heard, 1) + 1 == r->set.jobs) run_finish(r);
}

void gearman_client_bytes(link_t *c) {
  packet p;
  while (next_packet(c, &p)) {
    if (p.type == JOB_CREATED) on_created(c, &p);
    else if (p.type == WORK_COMPLETE) on_complete(c, &p);
    else atomic_fetch_add(&c->run->wrong, 1);
  }
  fill_window(c);
}

// ---- worker ----------------------------------------------------------------------------------------------

static void grab(link_t *c) {
  if (atomic_fetch_sub(&c->run->grabs_left, 1) > 0) begin_packet(c, GRAB_JOB, 0);
  else atomic_fetch_add(&c->run->grabs_left, 1);
}

void gearman_worker_open(link_t *c) {
  const char *function = c->run->set.function;
  memcpy(begin_packet(c, CAN_DO, strlen(function)), function, strlen(function));
  if (c->run->set.mode != DRAIN) begin_packet(c, PRE_SLEEP, 0);
  // Its answer says that the server knows the worker.
  begin_packet(c, ECHO_REQ, 0);
}

// All work is done: the answers to these say that the server took every result.
static void ask_for_end(loop *l) {
  for (int i = 0; i < l->count; i++) {
    begin_packet(&l->links[i], ECHO_REQ, 0);
    link_flush(&l->links[i]);
  }
}

static void begin_drain(loop *l) {
  l->run->began_ns = now_ns();
  for (int i = 0; i < l->count; i++) {
    grab(&l->links[i]);
    link_flush(&l->links[i]);
  }
}

static void on_echo(link_t *c) {
  run *r = c->run;
  uint32_t all = (uint32_t)c->loop->count;
  if (!c->opened) {
    c->opened = true;
    if (atomic_fetch_add(&r->ready, 1) + 1 == all && r->set.mode == DRAIN) begin_drain(c->loop);
  } else if (atomic_fetch_add(&r->settled, 1) + 1 == all) {
    run_finish(r);
  }
}

// JOB_ASSIGN: handle NUL function NUL payload
static void on_assign(link_t *c, const packet *p) {
  run *r = c->run;
  size_t handle = argument(p->body, p->size);
  size_t function = argument(p->body + handle + 1, p->size - handle - 1);
  const unsigned char *payload = p->body + handle + 1 + function + 1;
  size_t size = p->size - handle - function - 2;
  int64_t number = payload_read(payload, size, r->set.size);
  bool known = number >= 0 && number < r->book->next;
  if (!known || handle > MAX_HANDLE || strcmp((const char *)p->body + handle + 1, r->set.function)) {
    atomic_fetch_add(&r->wrong, 1);
  } else {
    r->book->worked[number]++;
  }
  unsigned char *to = begin_packet(c, WORK_COMPLETE, handle + 1 + size);
  memcpy(to, p->body, handle + 1);
  memcpy(to + handle + 1, payload, size);
  bool ends = atomic_fetch_add(&r->worked, 1) + 1 == r->set.jobs;
  grab(c);
  if (ends && (r->set.mode == DRAIN || r->set.mode == BOTH)) ask_for_end(c->loop);
}

static void on_no_job(link_t *c) {
  atomic_fetch_add(&c->run->grabs_left, 1);
  begin_packet(c, PRE_SLEEP, 0);
}

void gearman_worker_bytes(link_t *c) {
  packet p;
  while (next_packet(c, &p)) {
    if (p.type == JOB_ASSIGN) on_assign(c, &p);
    else if (p.type == NO_JOB) on_no_job(c);
    else if (p.type == NOOP) grab(c);
    else if (p.type == ECHO_RES) on_echo(c);
    else atomic_fetch_add(&c->run->wrong, 1);
  }
}
