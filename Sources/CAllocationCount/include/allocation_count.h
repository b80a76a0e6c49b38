#pragma once
#include <stdint.h>

/// Heap allocations of this process so far: calls of malloc, calloc, realloc and the aligned kinds. Counted from the
/// first call on, so take differences.
uint64_t allocation_count(void);

/// Whether the allocator's entry points were replaced, and so are counted.
int allocation_count_works(void);
