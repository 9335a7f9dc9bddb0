// The load generator: reads phases from stdin, one a line, and answers each with one line of JSON.
//   load CAPACITY LARGEST_PAYLOAD
//   foreground|submit|drain|both|rest|push|work|cycle|bridge|apart key=value ...
// Jobs are numbered through all phases of the process, at most CAPACITY of them, and a ledger keeps what
// became of each. `rest` connects idle workers and holds them until the next line.
#include "load.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define READY_POLL_US 200

uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

_Noreturn void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  _exit(2);
}

static const char *const modes[] = {"foreground", "submit", "drain", "both",  "rest",
                                    "push",       "work",   "cycle", "bridge", "apart"};

static const settings defaults = {
    .clients = 4, .workers = 4, .window = 100, .queues = 1, .size = 100, .stall_s = 30, .function = "bench"};

static void set_number(settings *set, const char *key, long value) {
  struct { const char *key; int *to; } rows[] = {
      {"port", &set->port},       {"faktory_port", &set->faktory_port}, {"clients", &set->clients},
      {"workers", &set->workers}, {"window", &set->window},             {"stall_s", &set->stall_s},
      {"queues", &set->queues},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(key, rows[i].key)) {
      *rows[i].to = (int)value;
      return;
    }
  if (!strcmp(key, "jobs")) set->jobs = (uint32_t)value;
  else if (!strcmp(key, "size")) set->size = (size_t)value;
  else if (!strcmp(key, "unique")) set->unique = value != 0;
  else fail("unknown setting %s", key);
}

static settings parse(char *line) {
  settings set = defaults;
  char *word = strtok(line, " \n");
  size_t mode = 0;
  while (mode < sizeof modes / sizeof *modes && word && strcmp(word, modes[mode])) mode++;
  if (!word || mode == sizeof modes / sizeof *modes) fail("unknown mode %s", word ? word : "");
  set.mode = (enum mode)mode;
  while ((word = strtok(NULL, " \n"))) {
    char *equals = strchr(word, '=');
    if (!equals) fail("no value: %s", word);
    *equals = 0;
    if (!strcmp(word, "function")) snprintf(set.function, sizeof set.function, "%s", equals + 1);
    else set_number(&set, word, strtol(equals + 1, NULL, 10));
  }
  if (set.size < DIGITS + 1) fail("a payload has at least %d bytes", DIGITS + 1);
  return set;
}

static void open_workers(loop *l, run *r) {
  loop_open(l, r, r->set.workers);
  for (int i = 0; i < l->count; i++) {
    loop_connect(l, i, r->set.port, gearman_worker_bytes);
    gearman_worker_open(&l->links[i]);
  }
}

static void open_faktory(loop *l, run *r) {
  enum mode mode = r->set.mode;
  int producers = mode == PUSH || mode == APART ? r->set.clients : 0;
  loop_open(l, r, producers + (mode == PUSH ? 0 : r->set.workers));
  for (int i = 0; i < l->count; i++) loop_connect(l, i, r->set.faktory_port, faktory_bytes);
}

static void open_clients(loop *l, run *r) {
  uint64_t clients = (uint64_t)r->set.clients;
  loop_open(l, r, r->set.clients);
  r->loops[1] = l;
  for (int i = 0; i < l->count; i++) loop_connect(l, i, r->set.port, gearman_client_bytes);
  r->began_ns = now_ns();
  for (uint64_t i = 0; i < clients; i++) {
    uint32_t first = r->first + (uint32_t)(r->set.jobs * i / clients);
    uint32_t end = r->first + (uint32_t)(r->set.jobs * (i + 1) / clients);
    gearman_client_open(&l->links[i], first, end - first);
  }
}

// Workers have a thread of their own, clients have this one.
static void serve(run *r) {
  enum mode mode = r->set.mode;
  loop workers = {0}, clients = {0};
  pthread_t thread;
  bool gearman_works = mode == FOREGROUND || mode == DRAIN || mode == BOTH || mode == REST;
  bool faktory = mode == PUSH || mode == WORK || mode == CYCLE || mode == BRIDGE || mode == APART;
  bool submits = mode == FOREGROUND || mode == SUBMIT || mode == BOTH || mode == BRIDGE;

  if (gearman_works) open_workers(&workers, r);
  if (faktory) open_faktory(&workers, r);
  if (workers.links) {
    r->loops[0] = &workers;
    if (pthread_create(&thread, NULL, loop_serve, &workers)) fail("cannot start a thread");
  }
  while (workers.links && (submits || mode == REST) && r->ready < (uint32_t)workers.count)
    usleep(READY_POLL_US);
  if (submits) {
    open_clients(&clients, r);
    loop_serve(&clients);
  }
  if (mode == REST) {
    printf("{\"ready\":%u}\n", r->ready);
    fflush(stdout);
    if (getchar() == EOF) exit(0);
    run_finish(r);
  }
  if (workers.links) pthread_join(thread, NULL);
  if (workers.links) loop_close(&workers);
  if (submits) loop_close(&clients);
}

static void report(const run *r) {
  const ledger *book = r->book;
  uint32_t unworked = 0, twice = 0;
  for (uint32_t i = 0; i < book->next; i++) {
    unworked += book->worked[i] == 0;
    twice += book->worked[i] > 1 || book->heard[i] > 1;
  }
  printf("{\"seconds\":%.9f,\"created\":%u,\"worked\":%u,\"heard\":%u,\"unworked\":%u,\"twice\":%u,"
         "\"wrong\":%u,\"latency\":",
         (double)(r->ended_ns - r->began_ns) / 1e9, r->created, r->worked, r->heard, unworked, twice,
         r->wrong);
  if (r->latency) histogram_print(r->latency);
  else printf("[]");
  printf("}\n");
  fflush(stdout);
}

static void perform(const settings *set, ledger *book) {
  bool takes_numbers = set->mode != DRAIN && set->mode != WORK && set->mode != REST;
  run r = {.set = *set, .book = book, .first = book->next};
  r.grabs_left = set->mode == DRAIN || set->mode == WORK ? (int)set->jobs : INT32_MAX / 2;
  if (takes_numbers && book->capacity - book->next < set->jobs) fail("the ledger is full");
  if (takes_numbers) book->next += set->jobs;
  if (set->mode == FOREGROUND || set->mode == BRIDGE) r.latency = calloc(1, sizeof *r.latency);
  serve(&r);
  if (set->mode != REST) report(&r);
  free(r.latency);
}

int main(int count, char **words) {
  if (count != 3) fail("usage: load CAPACITY LARGEST_PAYLOAD");
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  ledger book;
  ledger_open(&book, (uint32_t)strtoul(words[1], NULL, 10));
  payload_open(strtoul(words[2], NULL, 10));
  char line[1024];
  while (fgets(line, sizeof line, stdin)) {
    settings set = parse(line);
    perform(&set, &book);
  }
  return 0;
}
