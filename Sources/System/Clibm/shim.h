#pragma once
/* Trigonometry for modules that may not import the whole C library. The builtins need no declaration of <math.h>, which
   belongs to Glibc's own module. */
static inline double libm_sin(double x) { return __builtin_sin(x); }
static inline double libm_cos(double x) { return __builtin_cos(x); }
static inline double libm_atan2(double y, double x) { return __builtin_atan2(y, x); }
