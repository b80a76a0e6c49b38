#pragma once
// Fixing glibc's feature macros first keeps the system types here identical to those of the Glibc module.
#include <features.h>
#include <stdio.h>
#include <wchar.h>
#include <editline/readline.h>

/// The library's switch is a global variable, which Swift may not touch.
static inline void libedit_leave_signals_alone(void) { rl_catch_signals = 0; }

// The library's state is in global variables, too.
static inline const char *libedit_line(void) { return rl_line_buffer; }
/// Bytes of the line before the cursor.
static inline int libedit_cursor(void) { return rl_point; }

// Declared here since wchar.h hides it unless asked for more of X/Open than the Glibc module asks for.
int wcwidth(wchar_t character);
static inline int libedit_width(wchar_t character) { return wcwidth(character); }
