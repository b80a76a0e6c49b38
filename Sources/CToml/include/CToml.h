#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed TOML document as a flat list, or the place where parsing stopped. Nothing throws across this boundary.
typedef struct ctoml_document ctoml_document;

typedef enum {
    /// A table header, or a table made by a dotted key; its members follow as items of their own.
    CTOML_TABLE,
    /// `integer` holds the number of elements, which follow as items of the same key with `is_element` set.
    CTOML_ARRAY,
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_REAL,
    CTOML_BOOLEAN,
    /// Dates and times, which no setting uses.
    CTOML_OTHER,
} ctoml_kind;

/// Lines and columns count from 1. Texts are UTF-8, owned by the document, and may hold NUL.
typedef struct {
    /// Dotted path of the key from the root.
    const char *key;
    size_t key_length;
    const char *text;
    size_t text_length;
    int64_t integer;
    double real;
    ctoml_kind kind;
    uint32_t key_line, key_column;
    uint32_t line, column;
    bool boolean;
    bool is_element;
} ctoml_item;

/// Parses `length` bytes. NULL only when memory is short.
ctoml_document *ctoml_parse(const char *bytes, size_t length);
void ctoml_free(ctoml_document *document);

/// NULL past the end.
const ctoml_item *ctoml_item_at(const ctoml_document *document, size_t index);

/// What stopped the parser, or NULL when the document is well formed.
const char *ctoml_error(const ctoml_document *document);
uint32_t ctoml_error_line(const ctoml_document *document);
uint32_t ctoml_error_column(const ctoml_document *document);

#ifdef __cplusplus
}
#endif
