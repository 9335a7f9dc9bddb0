#include "load.h"
#include <stdlib.h>
#include <string.h>

void ledger_open(ledger *l, uint32_t capacity) {
  l->capacity = capacity;
  l->next = 0;
  l->handles = calloc(capacity, sizeof *l->handles);
  l->worked = calloc(capacity, sizeof *l->worked);
  l->heard = calloc(capacity, sizeof *l->heard);
  if (!l->handles || !l->worked || !l->heard) fail("no memory for %u jobs", capacity);
}

// Letters alone, so that a payload is the same text inside a JSON string.
#define TURNS 52
static unsigned char *letters;

void payload_open(size_t largest) {
  letters = malloc(largest + TURNS);
  if (!letters) fail("no memory for payloads");
  for (size_t i = 0; i < largest + TURNS; i++) {
    size_t letter = (i * 7 + i / TURNS) % TURNS;
    letters[i] = (unsigned char)(letter < 26 ? 'a' + letter : 'A' + letter - 26);
  }
}

void payload_write(unsigned char *to, uint32_t number, size_t size) {
  uint32_t rest = number;
  for (int i = DIGITS - 1; i >= 0; i--, rest /= 10) to[i] = (unsigned char)('0' + rest % 10);
  memcpy(to + DIGITS, letters + number % TURNS, size - DIGITS);
}

int64_t payload_read(const unsigned char *from, size_t size, size_t wanted_size) {
  if (size != wanted_size) return -1;
  uint64_t number = 0;
  for (int i = 0; i < DIGITS; i++) {
    if (from[i] < '0' || from[i] > '9') return -1;
    number = number * 10 + (from[i] - '0');
  }
  if (number > UINT32_MAX) return -1;
  return memcmp(from + DIGITS, letters + number % TURNS, size - DIGITS) ? -1 : (int64_t)number;
}
