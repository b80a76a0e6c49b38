#include "CToml.h"

#include <deque>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <toml++/toml.h>

struct ctoml_document {
    std::deque<ctoml_item> items;
    // Item texts point into these, so they must never move.
    std::deque<std::string> texts;
    std::string error;
    uint32_t line = 0;
    uint32_t column = 0;
    bool failed = false;

    std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
    void fail(const char *what, toml::source_position place) {
        failed = true;
        error = what;
        line = place.line;
        column = place.column;
    }
};

namespace {

ctoml_item make(std::string_view key, toml::source_position key_place, const toml::node &node, bool is_element) {
    ctoml_item item{};
    item.key = key.data();
    item.key_length = key.size();
    item.key_line = key_place.line;
    item.key_column = key_place.column;
    item.line = node.source().begin.line;
    item.column = node.source().begin.column;
    item.is_element = is_element;
    item.kind = CTOML_OTHER;
    return item;
}

void add_table(ctoml_document &document, const toml::table &table, const std::string &prefix);

void add(ctoml_document &document, std::string_view key, toml::source_position key_place, const toml::node &node,
         bool is_element) {
    ctoml_item item = make(key, key_place, node, is_element);
    if (const auto *table = node.as_table()) {
        item.kind = CTOML_TABLE;
        document.items.push_back(item);
        if (!is_element) add_table(document, *table, std::string(key));
        return;
    }
    if (const auto *array = node.as_array()) {
        item.kind = CTOML_ARRAY;
        item.integer = static_cast<int64_t>(array->size());
        document.items.push_back(item);
        if (is_element) return;
        for (const auto &element : *array) add(document, key, key_place, element, true);
        return;
    }
    if (const auto *text = node.as_string()) {
        const auto kept = document.keep(text->get());
        item.kind = CTOML_STRING;
        item.text = kept.data();
        item.text_length = kept.size();
    } else if (const auto *integer = node.as_integer()) {
        item.kind = CTOML_INTEGER;
        item.integer = integer->get();
    } else if (const auto *real = node.as_floating_point()) {
        item.kind = CTOML_REAL;
        item.real = real->get();
    } else if (const auto *boolean = node.as_boolean()) {
        item.kind = CTOML_BOOLEAN;
        item.boolean = boolean->get();
    }
    document.items.push_back(item);
}

void add_table(ctoml_document &document, const toml::table &table, const std::string &prefix) {
    for (const auto &entry : table) {
        const std::string name(entry.first.str());
        const auto key = document.keep(prefix.empty() ? name : prefix + "." + name);
        add(document, key, entry.first.source().begin, entry.second, false);
    }
}

}  // namespace

ctoml_document *ctoml_parse(const char *bytes, size_t length) {
    auto *document = new (std::nothrow) ctoml_document;
    if (document == nullptr) return nullptr;
    try {
        const toml::table root = toml::parse(std::string_view(bytes, length));
        add_table(*document, root, std::string());
    } catch (const toml::parse_error &error) {
        document->fail(std::string(error.description()).c_str(), error.source().begin);
    } catch (const std::exception &error) {
        document->fail(error.what(), {1, 1});
    } catch (...) {
        document->fail("the file cannot be read as TOML", {1, 1});
    }
    return document;
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_item *ctoml_item_at(const ctoml_document *document, size_t index) {
    return index < document->items.size() ? &document->items[index] : nullptr;
}

const char *ctoml_error(const ctoml_document *document) { return document->failed ? document->error.c_str() : nullptr; }
uint32_t ctoml_error_line(const ctoml_document *document) { return document->line; }
uint32_t ctoml_error_column(const ctoml_document *document) { return document->column; }
