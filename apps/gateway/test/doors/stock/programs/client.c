/* A client on libgearman: client PORT. See README.md for what it reads and says. */
#include <libgearman/gearman.h>
#include "hex.h"

static gearman_client_st *client;

static gearman_return_t on_data(gearman_task_st *task) {
  say_bytes("data", gearman_task_data(task), gearman_task_data_size(task));
  return GEARMAN_SUCCESS;
}

static gearman_return_t on_warning(gearman_task_st *task) {
  say_bytes("warning", gearman_task_data(task), gearman_task_data_size(task));
  return GEARMAN_SUCCESS;
}

static gearman_return_t on_status(gearman_task_st *task) {
  printf("status %u %u\n", gearman_task_numerator(task), gearman_task_denominator(task));
  return GEARMAN_SUCCESS;
}

static gearman_return_t on_complete(gearman_task_st *task) {
  say_bytes("complete", gearman_task_data(task), gearman_task_data_size(task));
  return GEARMAN_SUCCESS;
}

static gearman_return_t on_exception(gearman_task_st *task) {
  say_bytes("exception", gearman_task_data(task), gearman_task_data_size(task));
  return GEARMAN_SUCCESS;
}

static gearman_return_t on_fail(gearman_task_st *task) {
  (void)task;
  say("fail");
  return GEARMAN_SUCCESS;
}

static void run(void) {
  gearman_return_t ret = gearman_client_run_tasks(client);
  if (ret == GEARMAN_TIMEOUT) {
    /* Its tasks are still under way: they end in the next run. */
    say("timeout");
    return;
  }
  if (ret != GEARMAN_SUCCESS && ret != GEARMAN_WORK_FAIL && ret != GEARMAN_WORK_EXCEPTION)
    printf("error %s\n", gearman_client_error(client));
  gearman_client_task_free_all(client);
}

/* One result, or the last of it, from the call that waits for one job. */
static void wait_for_one(const char *fn, const char *unique, const char *data, size_t size) {
  for (;;) {
    gearman_return_t ret;
    size_t got = 0;
    char *result = gearman_client_do(client, fn, unique, data, size, &got, &ret);
    uint32_t done, of;
    if (ret == GEARMAN_WORK_DATA) say_bytes("data", result, got);
    else if (ret == GEARMAN_WORK_WARNING) say_bytes("warning", result, got);
    else if (ret == GEARMAN_WORK_EXCEPTION) say_bytes("exception", result, got);
    else if (ret == GEARMAN_SUCCESS) say_bytes("complete", result, got);
    else if (ret == GEARMAN_WORK_FAIL) say("fail");
    else if (ret == GEARMAN_TIMEOUT) say("timeout");
    else if (ret == GEARMAN_WORK_STATUS) {
      gearman_client_do_status(client, &done, &of);
      printf("status %u %u\n", done, of);
    } else printf("error %s\n", gearman_client_error(client));
    free(result);
    if (ret != GEARMAN_WORK_DATA && ret != GEARMAN_WORK_WARNING && ret != GEARMAN_WORK_STATUS)
      return;
  }
}

static void submit(const char *verb, const char *fn, const char *unique, const char *data,
                   size_t size) {
  gearman_job_handle_t handle;
  gearman_return_t ret;
  if (strcmp(verb, "bg") == 0)
    ret = gearman_client_do_background(client, fn, unique, data, size, handle);
  else if (strcmp(verb, "bg-high") == 0)
    ret = gearman_client_do_high_background(client, fn, unique, data, size, handle);
  else
    ret = gearman_client_do_low_background(client, fn, unique, data, size, handle);
  if (ret == GEARMAN_SUCCESS) printf("created %s\n", handle);
  else printf("error %s\n", gearman_client_error(client));
}

static void submit_later(const char *fn, const char *unique, const char *data, size_t size,
                         const char *epoch) {
  gearman_task_attr_t due = gearman_task_attr_init_epoch(atol(epoch), GEARMAN_JOB_PRIORITY_NORMAL);
  gearman_argument_t workload = gearman_argument_make(NULL, 0, data, size);
  gearman_task_st *task =
      gearman_execute(client, fn, strlen(fn), unique, strlen(unique), &due, &workload, NULL);
  if (task) printf("created %s\n", gearman_task_job_handle(task));
  else printf("error %s\n", gearman_client_error(client));
  gearman_client_task_free_all(client);
}

static void ask_status(const char *handle) {
  bool known, running;
  uint32_t done, of;
  if (gearman_client_job_status(client, handle, &known, &running, &done, &of) == GEARMAN_SUCCESS)
    printf("known %d %d %u %u\n", known, running, done, of);
  else printf("error %s\n", gearman_client_error(client));
}

/* On a client of its own: the library loses count of the tasks of one that has asked this. */
static void ask_unique(const char *unique) {
  gearman_client_st *asking = gearman_client_clone(NULL, client);
  gearman_status_t status = gearman_client_unique_status(asking, unique, strlen(unique));
  printf("known %d %d %u %u\n", gearman_status_is_known(status), gearman_status_is_running(status),
         gearman_status_numerator(status), gearman_status_denominator(status));
  gearman_client_free(asking);
}

/* COUNT tasks at once, each with its number behind the data. */
static void add_tasks(const char *fn, const char *unique, const char *data, size_t size, int count) {
  /* Tasks with one handle: the library finds the next one only when the last is gone. */
  if (unique) gearman_client_add_options(client, GEARMAN_CLIENT_FREE_TASKS);
  char *each = malloc((size + 16) * (size_t)count);
  for (int i = 0; i < count; i++) {
    gearman_return_t ret;
    char *at = each + (size + 16) * (size_t)i;
    memcpy(at, data, size);
    size_t length = size + (unique ? 0 : (size_t)sprintf(at + size, "%d", i));
    gearman_client_add_task(client, NULL, NULL, fn, unique, at, length, &ret);
  }
  run();
  gearman_client_remove_options(client, GEARMAN_CLIENT_FREE_TASKS);
  free(each);
}

static void obey(char *line) {
  const char *verb = strtok(line, " \n"), *fn = strtok(NULL, " \n");
  char *data = strtok(NULL, " \n");
  const char *extra = strtok(NULL, " \n"), *unique = strtok(NULL, " \n");
  gearman_return_t ret;
  size_t size = unhex(data);
  if (size == 0) data = NULL; /* the library takes no empty data that is somewhere */
  if (strcmp(verb, "do") == 0) gearman_client_add_task(client, NULL, NULL, fn, NULL, data, size, &ret);
  if (strcmp(verb, "high") == 0)
    gearman_client_add_task_high(client, NULL, NULL, fn, NULL, data, size, &ret);
  if (strcmp(verb, "low") == 0)
    gearman_client_add_task_low(client, NULL, NULL, fn, NULL, data, size, &ret);
  if (strcmp(verb, "do") == 0 || strcmp(verb, "high") == 0 || strcmp(verb, "low") == 0) run();
  else if (strcmp(verb, "one") == 0) wait_for_one(fn, NULL, data, size);
  else if (strncmp(verb, "bg", 2) == 0) submit(verb, fn, extra, data, size);
  else if (strcmp(verb, "later") == 0) submit_later(fn, unique, data, size, extra);
  else if (strcmp(verb, "set") == 0) add_tasks(fn, NULL, data, size, atoi(extra));
  else if (strcmp(verb, "same") == 0) add_tasks(fn, unique, data, size, atoi(extra));
  else if (strcmp(verb, "status") == 0) ask_status(extra);
  else if (strcmp(verb, "unique") == 0) ask_unique(extra);
  else if (strcmp(verb, "ping") == 0) {
    ret = gearman_client_echo(client, data, size);
    printf("echo %s\n", gearman_strerror(ret));
  } else if (strcmp(verb, "patience") == 0) {
    gearman_client_set_timeout(client, atoi(extra));
  }
  say(".");
}

int main(int count, char **words) {
  char *line = NULL;
  size_t room = 0;
  if (count < 2) return 2;
  client = gearman_client_create(NULL);
  gearman_client_add_server(client, "127.0.0.1", (in_port_t)atoi(words[1]));
  gearman_client_set_server_option(client, "exceptions", strlen("exceptions"));
  gearman_client_set_data_fn(client, on_data);
  gearman_client_set_warning_fn(client, on_warning);
  gearman_client_set_status_fn(client, on_status);
  gearman_client_set_complete_fn(client, on_complete);
  gearman_client_set_exception_fn(client, on_exception);
  gearman_client_set_fail_fn(client, on_fail);
  while (getline(&line, &room, stdin) > 0) obey(line);
  free(line);
  gearman_client_free(client);
  return 0;
}
