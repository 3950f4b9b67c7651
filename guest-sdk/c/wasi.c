/* The system calls of the C library, implemented with the host. Time and randomness are injected in a
 * step and real in a tool. Printed text becomes log records. Files and network are not available.
 * Without this file, a component would import WASI. A step must not import WASI.
 *
 * LATCH_TOOL is defined for tools. */
#include "latchwork.h"


#define SERVES(name) __imported_wasi_snapshot_preview1_##name
enum { SUCCESS = 0, BAD_FILE = 8, NO_SYSTEM = 52 };

/* Lower bound of a step's clock in nanoseconds. Sleeping raises the bound. */
#ifndef LATCH_TOOL
static uint64_t last;
#endif

static uint64_t now(void) {
#ifdef LATCH_TOOL
  real_clocks_wall_clock_datetime_t now;
  real_clocks_wall_clock_now(&now);
  return now.seconds * 1000000000u + now.nanoseconds;
#else
  latchwork_plugin_clock_instant_t now;
  latchwork_plugin_clock_now(&now);
  uint64_t told = (uint64_t)now.seconds * 1000000000u + now.nanoseconds;
  return last = last > told ? last : told;
#endif
}

/* Sleeps. A step does not wait: its clock moves forward. A tool polls the clock until the time has passed. */
static void pass(uint64_t wait) {
#ifdef LATCH_TOOL
  for (uint64_t until = now() + wait; now() < until; ) {}
#else
  last = now() + wait;
#endif
}

int32_t SERVES(clock_time_get)(int32_t clock, int64_t precision, int32_t time) {
  (void)clock, (void)precision;
  *(uint64_t *)(intptr_t)time = now();
  return SUCCESS;
}

int32_t SERVES(clock_res_get)(int32_t clock, int32_t resolution) {
  (void)clock;
  *(uint64_t *)(intptr_t)resolution = 1000;
  return SUCCESS;
}

int32_t SERVES(random_get)(int32_t into, int32_t len) {
#ifdef LATCH_TOOL
  latch_list_u8_t bytes;
  real_random_random_get_random_bytes((uint64_t)len, &bytes);
  memcpy((void *)(intptr_t)into, bytes.ptr, bytes.len);
#else
  latch_random((void *)(intptr_t)into, (size_t)len);
#endif
  return SUCCESS;
}

/* Incomplete lines of standard output and standard error. */
static latch_text lines[2];

static void end_line(int file) {
  latch_text *line = &lines[file - 1];
  latch_utf8_clean(line->bytes, line->len);
  latch_string_t message = { (uint8_t *)line->bytes, line->len };
  latchwork_plugin_log_write(file == 1 ? LATCH_INFO : LATCH_WARN, &message);
  line->len = 0;
}

void latch_flush(void) {
  fflush(NULL);
  for (int file = 1; file <= 2; file++)
    if (lines[file - 1].len) end_line(file);
#ifndef LATCH_TOOL
  last = 0; /* A later run in this instance begins without the sleep of this run. */
#endif
}

/* Logs each complete line as one record: file 1 with level info, file 2 with level warn. */
int32_t SERVES(fd_write)(int32_t file, int32_t parts, int32_t count, int32_t written) {
  if (file != 1 && file != 2) return BAD_FILE;
  latch_text *line = &lines[file - 1];
  uint32_t sum = 0;
  struct part {
    const char *bytes;
    uint32_t len;
  } *part = (struct part *)(intptr_t)parts;
  for (int32_t i = 0; i < count; sum += part[i++].len)
    for (uint32_t k = 0; k < part[i].len; k++) {
      if (part[i].bytes[k] != '\n') {
        latch_put_bytes(line, &part[i].bytes[k], 1);
        continue;
      }
      end_line(file);
    }
  *(uint32_t *)(intptr_t)written = sum;
  return SUCCESS;
}

int32_t SERVES(fd_close)(int32_t file) { return (void)file, BAD_FILE; }
int32_t SERVES(fd_read)(int32_t file, int32_t parts, int32_t count, int32_t read) { return (void)file, (void)parts, (void)count, (void)read, BAD_FILE; }
int32_t SERVES(fd_seek)(int32_t file, int64_t by, int32_t from, int32_t at) { return (void)file, (void)by, (void)from, (void)at, BAD_FILE; }
int32_t SERVES(fd_fdstat_get)(int32_t file, int32_t about) {
  if (file != 1 && file != 2) return BAD_FILE;
  /* Reports a writable character device, so that the C library flushes each line. */
  memset((void *)(intptr_t)about, 0, 24);
  *(uint8_t *)(intptr_t)about = 2;
  *(uint64_t *)(intptr_t)(about + 8) = 1 << 6;
  return SUCCESS;
}
int32_t SERVES(fd_prestat_get)(int32_t file, int32_t about) { return (void)file, (void)about, BAD_FILE; }
int32_t SERVES(fd_prestat_dir_name)(int32_t file, int32_t path, int32_t len) { return (void)file, (void)path, (void)len, BAD_FILE; }
int32_t SERVES(environ_get)(int32_t names, int32_t bytes) { return (void)names, (void)bytes, SUCCESS; }
int32_t SERVES(environ_sizes_get)(int32_t count, int32_t size) {
  *(uint32_t *)(intptr_t)count = *(uint32_t *)(intptr_t)size = 0;
  return SUCCESS;
}

/* Sleeps until the first timer in the list is due and ignores the rest of the list. Other event types are
 * not supported. */
int32_t SERVES(poll_oneoff)(int32_t in, int32_t out, int32_t count, int32_t events) {
  struct timer {
    uint64_t user;
    uint8_t kind;
    _Alignas(8) uint32_t clock;
    uint64_t wait, precision;
    uint16_t flags;
  } *timer = (struct timer *)(intptr_t)in;
  struct event {
    uint64_t user;
    uint16_t error;
    uint8_t kind;
    uint64_t bytes;
    uint16_t flags;
  } *event = (struct event *)(intptr_t)out;
  enum { CLOCK = 0, ABSOLUTE = 1 };
  if (count < 1 || timer->kind != CLOCK) return NO_SYSTEM;
  uint64_t from = timer->flags & ABSOLUTE ? now() : 0;
  pass(timer->wait > from ? timer->wait - from : 0);
  *event = (struct event){ .user = timer->user };
  *(uint32_t *)(intptr_t)events = 1;
  return SUCCESS;
}
int32_t SERVES(sched_yield)(void) { return SUCCESS; }

/* The parts of zig's library that are written in Zig use this name for the function that closes a file. */
int32_t zig_fd_close(int32_t file) __asm__("fd_close|wasi_snapshot_preview1");
int32_t zig_fd_close(int32_t file) { return SERVES(fd_close)(file); }

_Noreturn void SERVES(proc_exit)(int32_t code) {
  latch_flush();
  latch_log(LATCH_ERROR, "exit(%d): a plugin answers, it does not exit", (int)code);
  __builtin_trap();
}
