#pragma once
// Fixing glibc's feature macros first keeps the system types here identical to those of the Glibc module.
#include <features.h>
#include <sys/timex.h>
