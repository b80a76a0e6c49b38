#include "panel_lines.h"

#include <errno.h>
#include <gpiod.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What there is of edges after a call that failed: none where a signal came in between or another look took them, and an
   error, that is, no line any more, otherwise. */
static int failed(void) { return errno == EINTR || errno == EAGAIN ? 0 : -1; }

/* Bulks exist in version 1 only. */
#ifdef GPIOD_LINE_BULK_MAX_LINES

struct panel_line {
    struct gpiod_chip *chip;
    struct gpiod_line *line;
};

const char *panel_library_version(void) { return gpiod_version_string(); }

int panel_chip_describe(const char *path, char *label, size_t label_size, unsigned *line_count) {
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) return -1;
    snprintf(label, label_size, "%s", gpiod_chip_label(chip));
    *line_count = gpiod_chip_num_lines(chip);
    gpiod_chip_close(chip);
    return 0;
}

int panel_chip_find_line(const char *path, const char *name) {
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) return -1;
    struct gpiod_line *line = gpiod_chip_find_line(chip, name);
    int offset = line ? (int)gpiod_line_offset(line) : -1;
    gpiod_chip_close(chip);
    if (offset < 0) errno = ENOENT;
    return offset;
}

struct panel_line *panel_line_open(const char *chip_path, unsigned offset, unsigned flags, const char *consumer) {
    struct panel_line *opened = calloc(1, sizeof *opened);
    if (!opened) return NULL;
    int wanted = 0;
    if (flags & PANEL_LINE_ACTIVE_LOW) wanted |= GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW;
    if (flags & PANEL_LINE_PULL_UP) wanted |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP;
    if (flags & PANEL_LINE_PULL_DOWN) wanted |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN;
    opened->chip = gpiod_chip_open(chip_path);
    if (opened->chip) opened->line = gpiod_chip_get_line(opened->chip, offset);
    int result = -1;
    if (opened->line) {
        result = flags & PANEL_LINE_OUTPUT
            ? gpiod_line_request_output_flags(opened->line, consumer, wanted, 0)
            : gpiod_line_request_both_edges_events_flags(opened->line, consumer, wanted);
    }
    if (result == 0) return opened;
    int error = errno;
    if (opened->chip) gpiod_chip_close(opened->chip);
    free(opened);
    errno = error;
    return NULL;
}

int panel_line_get(struct panel_line *line) { return gpiod_line_get_value(line->line); }

int panel_line_set(struct panel_line *line, int is_active) { return gpiod_line_set_value(line->line, is_active); }

int panel_line_fd(struct panel_line *line) { return gpiod_line_event_get_fd(line->line); }

int panel_line_next_edge(struct panel_line *line, int *is_active, int64_t *at) {
    const struct timespec now = {0, 0};
    int ready = gpiod_line_event_wait(line->line, &now);
    if (ready <= 0) return ready < 0 ? failed() : 0;
    struct gpiod_line_event event;
    if (gpiod_line_event_read(line->line, &event) < 0) return failed();
    *is_active = event.event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    *at = (int64_t)event.ts.tv_sec * 1000000000 + event.ts.tv_nsec;
    return 1;
}

void panel_line_close(struct panel_line *line) {
    if (!line) return;
    gpiod_line_release(line->line);
    gpiod_chip_close(line->chip);
    free(line);
}

#else

struct panel_line {
    struct gpiod_line_request *request;
    struct gpiod_edge_event_buffer *events;
    unsigned offset;
};

const char *panel_library_version(void) { return gpiod_api_version(); }

int panel_chip_describe(const char *path, char *label, size_t label_size, unsigned *line_count) {
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) return -1;
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    int result = -1;
    if (info) {
        snprintf(label, label_size, "%s", gpiod_chip_info_get_label(info));
        *line_count = (unsigned)gpiod_chip_info_get_num_lines(info);
        gpiod_chip_info_free(info);
        result = 0;
    }
    gpiod_chip_close(chip);
    return result;
}

int panel_chip_find_line(const char *path, const char *name) {
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) return -1;
    int offset = gpiod_chip_get_line_offset_from_name(chip, name);
    int error = errno;
    gpiod_chip_close(chip);
    errno = error;
    return offset;
}

static int configure(struct gpiod_line_settings *settings, unsigned flags) {
    if (gpiod_line_settings_set_direction(
            settings, flags & PANEL_LINE_OUTPUT ? GPIOD_LINE_DIRECTION_OUTPUT : GPIOD_LINE_DIRECTION_INPUT))
        return -1;
    gpiod_line_settings_set_active_low(settings, (flags & PANEL_LINE_ACTIVE_LOW) != 0);
    if (flags & PANEL_LINE_INPUT &&
        (gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH) ||
         gpiod_line_settings_set_event_clock(settings, GPIOD_LINE_CLOCK_MONOTONIC)))
        return -1;
    if (flags & PANEL_LINE_PULL_UP) return gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_UP);
    if (flags & PANEL_LINE_PULL_DOWN) return gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_DOWN);
    return 0;
}

static struct gpiod_line_request *request(
    struct gpiod_chip *chip, unsigned offset, unsigned flags, const char *consumer) {
    struct gpiod_line_request *result = NULL;
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    if (settings && lines && config && configure(settings, flags) == 0 &&
        gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0) {
        gpiod_request_config_set_consumer(config, consumer);
        result = gpiod_chip_request_lines(chip, config, lines);
    }
    int error = errno;
    if (config) gpiod_request_config_free(config);
    if (lines) gpiod_line_config_free(lines);
    if (settings) gpiod_line_settings_free(settings);
    errno = error;
    return result;
}

struct panel_line *panel_line_open(const char *chip_path, unsigned offset, unsigned flags, const char *consumer) {
    struct gpiod_chip *chip = gpiod_chip_open(chip_path);
    if (!chip) return NULL;
    struct panel_line *opened = calloc(1, sizeof *opened);
    if (opened) {
        opened->offset = offset;
        opened->events = gpiod_edge_event_buffer_new(1);
        if (opened->events) opened->request = request(chip, offset, flags, consumer);
    }
    int error = errno;
    /* The request outlives the chip it was made of. */
    gpiod_chip_close(chip);
    if (opened && !opened->request) {
        if (opened->events) gpiod_edge_event_buffer_free(opened->events);
        free(opened);
        opened = NULL;
    }
    errno = error;
    return opened;
}

int panel_line_get(struct panel_line *line) {
    enum gpiod_line_value value = gpiod_line_request_get_value(line->request, line->offset);
    return value == GPIOD_LINE_VALUE_ERROR ? -1 : value == GPIOD_LINE_VALUE_ACTIVE;
}

int panel_line_set(struct panel_line *line, int is_active) {
    return gpiod_line_request_set_value(
        line->request, line->offset, is_active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
}

int panel_line_fd(struct panel_line *line) { return gpiod_line_request_get_fd(line->request); }

int panel_line_next_edge(struct panel_line *line, int *is_active, int64_t *at) {
    int ready = gpiod_line_request_wait_edge_events(line->request, 0);
    if (ready <= 0) return ready < 0 ? failed() : 0;
    if (gpiod_line_request_read_edge_events(line->request, line->events, 1) != 1) return failed();
    struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->events, 0);
    if (!event) return -1;
    *is_active = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
    *at = (int64_t)gpiod_edge_event_get_timestamp_ns(event);
    return 1;
}

void panel_line_close(struct panel_line *line) {
    if (!line) return;
    gpiod_line_request_release(line->request);
    gpiod_edge_event_buffer_free(line->events);
    free(line);
}

#endif
