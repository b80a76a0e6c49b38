#pragma once
#include <stdint.h>

/// Heap allocations of this process so far: calls of malloc, calloc, realloc and the aligned kinds. Counted from the
/// first call on, so take differences.
uint64_t allocation_count(void);

/// Bytes asked for in these allocations.
uint64_t allocation_bytes(void);

/// Whether the allocator's entry points were replaced, and so are counted.
int allocation_count_works(void);
