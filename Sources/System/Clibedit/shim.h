#pragma once
// Fixing glibc's feature macros first keeps the system types here identical to those of the Glibc module.
#include <features.h>
#include <stdio.h>
#include <editline/readline.h>

/// The library's switch is a global variable, which Swift may not touch.
static inline void libedit_leave_signals_alone(void) { rl_catch_signals = 0; }
