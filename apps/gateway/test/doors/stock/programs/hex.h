/* Bytes travel as hex on standard input and output; a lone dash stands for none. */
#ifndef HEX_H
#define HEX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_bytes(const char *event, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  printf("%s ", event);
  if (size == 0) putchar('-');
  for (size_t i = 0; i < size; i++) printf("%02x", at[i]);
  putchar('\n');
  fflush(stdout);
}

static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

/* Decodes in place; returns the size. */
static size_t unhex(char *text) {
  size_t size = 0;
  if (strcmp(text, "-") == 0) return 0;
  for (; text[2 * size] && text[2 * size + 1]; size++) {
    char pair[3] = {text[2 * size], text[2 * size + 1], 0};
    text[size] = (char)strtoul(pair, NULL, 16);
  }
  return size;
}

#endif
