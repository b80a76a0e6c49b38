#pragma once
#include <stddef.h>
#include <stdint.h>

/* One GPIO line, over whichever libgpiod this machine has: its versions 1 and 2 are different interfaces.
   Every function that fails sets errno. */

struct panel_line;

enum panel_line_flag {
    PANEL_LINE_OUTPUT = 1,
    /* Input whose edges, both of them, are reported. */
    PANEL_LINE_INPUT = 2,
    PANEL_LINE_ACTIVE_LOW = 4,
    PANEL_LINE_PULL_UP = 8,
    PANEL_LINE_PULL_DOWN = 16,
};

/* "1.6.3", "2.2.1" */
const char *panel_library_version(void);

/* What a chip says of itself; -1 when it cannot be opened. */
int panel_chip_describe(const char *path, char *label, size_t label_size, unsigned *line_count);

/* The offset of the line with this name, or -1. */
int panel_chip_find_line(const char *path, const char *name);

/* Takes a line for this process alone; an output starts inactive. NULL when it cannot be had. */
struct panel_line *panel_line_open(const char *chip_path, unsigned offset, unsigned flags, const char *consumer);

/* 1 active, 0 inactive, -1 failed. */
int panel_line_get(struct panel_line *line);
int panel_line_set(struct panel_line *line, int is_active);

/* Readable when an edge was seen. */
int panel_line_fd(struct panel_line *line);

/* Takes the oldest edge seen and not taken yet, without waiting: the level behind it, and when it was in nanoseconds of
   CLOCK_MONOTONIC. 1 for an edge, 0 when there is none, -1 failed. */
int panel_line_next_edge(struct panel_line *line, int *is_active, int64_t *at);

void panel_line_close(struct panel_line *line);
