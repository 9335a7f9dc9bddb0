#include "load.h"
#include <stdio.h>

static size_t cell_of(uint64_t value) {
  if (value < 1024) return value;
  unsigned shift = 63 - (unsigned)__builtin_clzll(value) - 9;
  size_t cell = shift * 512 + (value >> shift);
  return cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1;
}

// The middle of what a cell holds.
static uint64_t value_of(size_t cell) {
  if (cell < 1024) return cell;
  unsigned shift = (unsigned)(cell / 512 - 1);
  uint64_t low = (uint64_t)(cell - shift * 512) << shift;
  return low + (1ull << shift) / 2;
}

void histogram_add(histogram *h, uint64_t value_ns) { h->counts[cell_of(value_ns)]++; }

void histogram_print(const histogram *h) {
  const char *comma = "";
  printf("[");
  for (size_t cell = 0; cell < HISTOGRAM_CELLS; cell++) {
    if (h->counts[cell] == 0) continue;
    printf("%s[%llu,%llu]", comma, (unsigned long long)value_of(cell),
           (unsigned long long)h->counts[cell]);
    comma = ",";
  }
  printf("]");
}
