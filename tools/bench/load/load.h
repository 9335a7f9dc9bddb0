// Shared by every part of the load generator: one run, its ledger of jobs, its event loops and links.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- clock, failure -------------------------------------------------------------------------------
uint64_t now_ns(void);
// Says why on stderr and ends the program: a run that went wrong has no figures.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- histogram of latencies: 512 steps per power of two, so 0.2 % wide -------------------------------
#define HISTOGRAM_CELLS (512 * 46)
typedef struct {
  uint64_t counts[HISTOGRAM_CELLS];
} histogram;
void histogram_add(histogram *h, uint64_t value_ns);
// Writes `[[ns,count],...]` to stdout, empty cells left out.
void histogram_print(const histogram *h);

// ---- ledger: what became of every job by its number ---------------------------------------------------
typedef struct {
  uint32_t capacity, next;      // numbers from 0 to next-1 have been given out
  uint64_t *handles;            // hash of the handle that JOB_CREATED named; 0: none yet
  unsigned char *worked, *heard; // how often a worker had it, how often its client heard of its end
} ledger;
void ledger_open(ledger *l, uint32_t capacity);

// ---- payloads: ten digits of the job's number, then letters that depend on the number ------------------
#define DIGITS 10
void payload_open(size_t largest);
void payload_write(unsigned char *to, uint32_t number, size_t size);
// The number of a payload whose every byte is right, else -1.
int64_t payload_read(const unsigned char *from, size_t size, size_t wanted_size);

// ---- one phase of load ----------------------------------------------------------------------------------
enum mode { FOREGROUND, SUBMIT, DRAIN, BOTH, REST, PUSH, WORK, CYCLE, BRIDGE, APART };

typedef struct {
  enum mode mode;
  int port, faktory_port;
  int clients, workers, window, queues;
  uint32_t jobs;
  size_t size;
  bool unique;
  int stall_s;
  char function[64];
} settings;

struct loop;
typedef struct {
  settings set;
  ledger *book;
  uint32_t first; // number of the phase's first job
  histogram *latency;
  atomic_uint created, worked, heard, ready, settled;
  atomic_uint wrong;
  atomic_int grabs_left; // how many more jobs workers may ask for
  atomic_bool over;
  uint64_t began_ns, ended_ns;
  struct loop *loops[2];
} run;
void run_finish(run *r);

// ---- connections --------------------------------------------------------------------------------------
typedef struct {
  unsigned char *bytes;
  size_t start, end, room;
} buffer;
// Room for `size` more bytes at the end; the caller adds what it wrote to `end`.
unsigned char *buffer_reserve(buffer *b, size_t size);
void buffer_append(buffer *b, const void *bytes, size_t size);

typedef struct link {
  int fd, index;
  run *run;
  struct loop *loop;
  buffer in, out;
  bool wants_write, opened;
  void (*on_bytes)(struct link *);
  int state;
  // of a Gearman client and of whoever submits: its share of the numbers
  uint32_t first, submitted, created, heard, quota;
  uint64_t *sent_ns; // by place in its share; only where latency is asked for
} link_t;

typedef struct loop {
  int epoll, wake;
  run *run;
  link_t *links;
  int count;
} loop;
void loop_open(loop *l, run *r, int count);
// Connects the link to a port of this machine.
void loop_connect(loop *l, int index, int port, void (*on_bytes)(link_t *));
void link_flush(link_t *c);
// Serves the links until the run is over. The type is what a thread wants.
void *loop_serve(void *l);
void loop_close(loop *l);

// ---- Gearman -------------------------------------------------------------------------------------------
void gearman_client_open(link_t *c, uint32_t first, uint32_t quota);
void gearman_client_bytes(link_t *c);
void gearman_worker_open(link_t *c);
void gearman_worker_bytes(link_t *c);

// ---- Faktory -------------------------------------------------------------------------------------------
void faktory_bytes(link_t *c);
