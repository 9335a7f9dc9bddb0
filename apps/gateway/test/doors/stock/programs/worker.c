/* A worker on libgearman: worker PORT PREFIX [TIMEOUT-MILLISECONDS]. See README.md. */
#include <libgearman/gearman.h>
#include "hex.h"

static gearman_return_t echo(gearman_job_st *job, void *context) {
  (void)context;
  gearman_job_send_complete(job, gearman_job_workload(job), gearman_job_workload_size(job));
  return GEARMAN_SUCCESS;
}

static gearman_return_t talk(gearman_job_st *job, void *context) {
  (void)context;
  gearman_job_send_data(job, "one", 3);
  gearman_job_send_data(job, "t\0o", 3);
  gearman_job_send_warning(job, "careful", 7);
  gearman_job_send_status(job, 1, 4);
  gearman_job_send_complete(job, "end", 3);
  return GEARMAN_SUCCESS;
}

static gearman_return_t fail(gearman_job_st *job, void *context) {
  (void)job;
  (void)context;
  return GEARMAN_FATAL;
}

static gearman_return_t boom(gearman_job_st *job, void *context) {
  (void)context;
  gearman_job_send_exception(job, "kaboom", 6);
  return GEARMAN_SUCCESS;
}

static gearman_return_t note(gearman_job_st *job, void *context) {
  (void)context;
  say_bytes("got", gearman_job_workload(job), gearman_job_workload_size(job));
  gearman_job_send_complete(job, NULL, 0);
  return GEARMAN_SUCCESS;
}

static gearman_return_t tell_unique(gearman_job_st *job, void *context) {
  (void)context;
  const char *unique = gearman_job_unique(job);
  gearman_job_send_complete(job, unique, strlen(unique));
  return GEARMAN_SUCCESS;
}

/* Runs until it is told to end by a line. */
static gearman_return_t hold(gearman_job_st *job, void *context) {
  char line[16];
  (void)context;
  gearman_job_send_status(job, 1, 4);
  say_bytes("holding", gearman_job_workload(job), gearman_job_workload_size(job));
  if (!fgets(line, sizeof line, stdin)) exit(0);
  gearman_job_send_complete(job, gearman_job_workload(job), gearman_job_workload_size(job));
  return GEARMAN_SUCCESS;
}

static void can_do(gearman_worker_st *worker, const char *prefix, const char *name, int timeout,
                   gearman_function_fn *run) {
  char fn[256];
  snprintf(fn, sizeof fn, "%s-%s", prefix, name);
  gearman_worker_define_function(worker, fn, strlen(fn), gearman_function_create(run),
                                 (uint32_t)timeout, NULL);
}

int main(int count, char **words) {
  gearman_worker_st *worker = gearman_worker_create(NULL);
  if (count < 3) return 2;
  int timeout = count > 3 ? atoi(words[3]) : 0;
  gearman_worker_add_options(worker, GEARMAN_WORKER_GRAB_UNIQ);
  gearman_worker_add_server(worker, "127.0.0.1", (in_port_t)atoi(words[1]));
  can_do(worker, words[2], "echo", 0, echo);
  can_do(worker, words[2], "talk", 0, talk);
  can_do(worker, words[2], "fail", 0, fail);
  can_do(worker, words[2], "boom", 0, boom);
  can_do(worker, words[2], "note", 0, note);
  can_do(worker, words[2], "unique", 0, tell_unique);
  can_do(worker, words[2], "hold", timeout, hold);
  say("ready");
  for (;;) {
    gearman_return_t result = gearman_worker_work(worker);
    if (result == GEARMAN_SUCCESS) continue;
    printf("error ");
    say(gearman_strerror(result));
  }
}
