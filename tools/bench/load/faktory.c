// Faktory producers and consumers as stock libraries behave: one command under way on each connection.
#define _GNU_SOURCE
#include "load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The request whose answer the connection waits for.
enum { GREETING, HELLO, PUSH_SENT, FETCH_SENT, ACK_SENT };
// In APART one job in so many fails; none is tried again.
#define FAILS_ONE_IN 100
#define MAX_LINE 256
#define MAX_QUEUE 24

typedef struct {
  const char *text; // of `+text`, or the bulk string
  size_t size;
  bool null;
} reply;

static bool next_reply(link_t *c, reply *r) {
  const char *at = (const char *)c->in.bytes + c->in.start;
  size_t held = c->in.end - c->in.start;
  const char *newline = memchr(at, '\n', held);
  if (!newline) return false;
  size_t line = (size_t)(newline - at) + 1;
  *r = (reply){.text = at + 1, .size = line - 3};
  if (*at == '$') {
    long size = strtol(at + 1, NULL, 10);
    *r = (reply){.text = newline + 1, .size = size < 0 ? 0 : (size_t)size, .null = size < 0};
    if (size >= 0) line += (size_t)size + 2;
    if (held < line) return false;
  } else if (*at != '+') {
    fail("the server said %.*s", (int)line, at);
  }
  c->in.start += line;
  return true;
}

static void send_text(link_t *c, const char *text) { buffer_append(&c->out, text, strlen(text)); }

// Jobs of one queue are in `default`, others in turn in `queue0`, `queue1` and so on.
static int write_queue(char *to, size_t room, const settings *set, uint32_t number) {
  if (set->queues == 1) return snprintf(to, room, "default");
  return snprintf(to, room, "queue%u", number % (uint32_t)set->queues);
}

// The queue of a job in APART: any, but the same in each run.
static uint32_t any_queue(uint32_t number) { return (number * 2654435761u) >> 16; }

static void say_hello(link_t *c) {
  char line[MAX_LINE];
  snprintf(line, sizeof line,
           "HELLO {\"v\":2,\"wid\":\"bench-%d\",\"hostname\":\"bench\",\"pid\":1,\"labels\":[]}\r\n", c->index);
  send_text(c, line);
  c->state = HELLO;
}

static void push(link_t *c) {
  const settings *set = &c->run->set;
  uint32_t number = c->first + c->submitted++;
  char head[MAX_LINE], queue[MAX_QUEUE];
  bool apart = set->mode == APART;
  write_queue(queue, sizeof queue, set, apart ? any_queue(number) : number);
  snprintf(head, sizeof head, "PUSH {\"jid\":\"bench-%010u\",\"jobtype\":\"%s\",\"queue\":\"%s\",%s\"args\":[\"",
           number, set->function, queue, apart ? "\"retry\":0," : "");
  send_text(c, head);
  payload_write(buffer_reserve(&c->out, set->size), number, set->size);
  c->out.end += set->size;
  send_text(c, "\"]}\r\n");
  c->state = PUSH_SENT;
}

static void fetch(link_t *c) {
  run *r = c->run;
  if (atomic_fetch_sub(&r->grabs_left, 1) <= 0) return;
  send_text(c, "FETCH");
  // As workers do that shuffle their queues: each begins with another one.
  for (int at = 0; at < r->set.queues; at++) {
    char queue[MAX_QUEUE] = " ";
    write_queue(queue + 1, sizeof queue - 1, &r->set, (uint32_t)(c->index + at));
    send_text(c, queue);
  }
  send_text(c, "\r\n");
  c->state = FETCH_SENT;
}

// The text after `key` in the job's JSON.
static const char *after(const reply *job, const char *key) {
  const char *found = memmem(job->text, job->size, key, strlen(key));
  if (!found) fail("a job lacks %s: %.*s", key, (int)job->size, job->text);
  return found + strlen(key);
}

static void ack(link_t *c, const reply *job) {
  run *r = c->run;
  const char *jid = after(job, "\"jid\":\""), *payload = after(job, "\"args\":[\"");
  size_t rest = (size_t)(job->text + job->size - payload), size = r->set.size;
  int64_t number = -1;
  if (rest > size + 1 && !memcmp(payload + size, "\"]", 2))
    number = payload_read((const unsigned char *)payload, size, size);
  if (number < 0 || number >= r->book->next) atomic_fetch_add(&r->wrong, 1);
  else r->book->worked[number]++;
  atomic_fetch_add(&r->worked, 1);

  const char *end = memchr(jid, '"', (size_t)(job->text + job->size - jid));
  bool fails = r->set.mode == APART && number % FAILS_ONE_IN == 0;
  send_text(c, fails ? "FAIL {\"jid\":\"" : "ACK {\"jid\":\"");
  buffer_append(&c->out, jid, (size_t)(end - jid));
  if (fails) send_text(c, "\",\"errtype\":\"Error\",\"message\":\"one in a hundred");
  if (r->set.mode == BRIDGE) {
    // The Gearman client must get its payload back.
    send_text(c, "\",\"result\":\"");
    buffer_append(&c->out, payload, size);
  }
  send_text(c, "\"}\r\n");
  c->state = ACK_SENT;
}

static void next_push(link_t *c) {
  if (c->submitted < c->quota) push(c);
}

static void begin(link_t *c) {
  const settings *set = &c->run->set;
  uint32_t jobs = set->jobs, all = (uint32_t)(set->mode == APART ? set->clients : c->loop->count);
  if (set->mode == APART && c->index >= set->clients) {
    fetch(c);
    link_flush(c);
    return;
  }
  c->first = c->run->first + (uint32_t)((uint64_t)jobs * (uint32_t)c->index / all);
  c->quota = c->run->first + (uint32_t)((uint64_t)jobs * ((uint32_t)c->index + 1) / all) - c->first;
  if (set->mode == PUSH || set->mode == CYCLE || set->mode == APART) next_push(c);
  else fetch(c);
  link_flush(c);
}

// The clock starts when the last connection has been greeted.
static void on_hello(link_t *c) {
  uint32_t all = (uint32_t)c->loop->count;
  if (atomic_fetch_add(&c->run->ready, 1) + 1 != all) return;
  c->run->began_ns = now_ns();
  for (uint32_t i = 0; i < all; i++) begin(&c->loop->links[i]);
}

static void on_pushed(link_t *c) {
  run *r = c->run;
  uint32_t created = atomic_fetch_add(&r->created, 1) + 1;
  if (r->set.mode == CYCLE) fetch(c);
  else if (created == r->set.jobs && r->set.mode == PUSH) run_finish(r);
  else next_push(c);
}

static void on_fetched(link_t *c, const reply *job) {
  if (!job->null) {
    ack(c, job);
    return;
  }
  atomic_fetch_add(&c->run->grabs_left, 1);
  fetch(c);
}

static void on_acked(link_t *c) {
  run *r = c->run;
  uint32_t settled = atomic_fetch_add(&r->settled, 1) + 1;
  if (r->set.mode == CYCLE) next_push(c);
  else fetch(c);
  if (settled == r->set.jobs && r->set.mode != BRIDGE) run_finish(r);
}

void faktory_bytes(link_t *c) {
  reply r;
  while (next_reply(c, &r)) {
    if (c->state == GREETING) say_hello(c);
    else if (c->state == HELLO) on_hello(c);
    else if (c->state == PUSH_SENT) on_pushed(c);
    else if (c->state == FETCH_SENT) on_fetched(c, &r);
    else on_acked(c);
  }
}
