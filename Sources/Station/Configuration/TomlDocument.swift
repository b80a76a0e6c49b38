import CToml

/// A place in a text file, counted from 1.
public struct TextPlace: Hashable, Comparable, Sendable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let start = TextPlace(line: 1, column: 1)
    public static func < (a: TextPlace, b: TextPlace) -> Bool {
        a.line != b.line ? a.line < b.line : a.column < b.column
    }
}

enum TomlValue: Equatable {
    case table
    case array([TomlElement])
    case text(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// A date or a time.
    case other
}

struct TomlElement: Equatable {
    let value: TomlValue
    let place: TextPlace
}

struct TomlEntry: Equatable {
    /// Dotted path from the root.
    let key: String
    let keyPlace: TextPlace
    let value: TomlValue
    let place: TextPlace
}

/// A TOML file as a flat list of entries in file order, tables included.
struct TomlDocument {
    let entries: [TomlEntry]

    init(parsing bytes: [UInt8]) throws(TomlSyntaxError) {
        let parsed = bytes.withUnsafeBytes { buffer in
            ctoml_parse(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard let parsed else { throw TomlSyntaxError(message: "not enough memory to read the file", place: .start) }
        defer { ctoml_free(parsed) }
        if let message = ctoml_error(parsed) {
            throw TomlSyntaxError(
                library: String(cString: message),
                at: TextPlace(line: Int(ctoml_error_line(parsed)), column: Int(ctoml_error_column(parsed))), in: bytes)
        }
        entries = TomlDocument.entries(of: parsed)
    }

    private static func entries(of document: OpaquePointer) -> [TomlEntry] {
        var entries: [TomlEntry] = []
        var index = 0
        while let item = ctoml_item_at(document, index)?.pointee {
            index += 1
            var value = scalar(item)
            if item.kind == CTOML_ARRAY {
                var elements: [TomlElement] = []
                while let element = ctoml_item_at(document, index)?.pointee, element.is_element {
                    elements.append(TomlElement(value: scalar(element), place: place(element)))
                    index += 1
                }
                value = .array(elements)
            }
            entries.append(
                TomlEntry(
                    key: text(item.key, item.key_length),
                    keyPlace: TextPlace(line: Int(item.key_line), column: Int(item.key_column)), value: value,
                    place: place(item)))
        }
        return entries.sorted { $0.keyPlace < $1.keyPlace }
    }

    /// The value of one item by itself; a nested array is seen empty, since no setting nests.
    private static func scalar(_ item: ctoml_item) -> TomlValue {
        switch item.kind {
        case CTOML_TABLE: .table
        case CTOML_ARRAY: .array([])
        case CTOML_STRING: .text(text(item.text, item.text_length))
        case CTOML_INTEGER: .integer(item.integer)
        case CTOML_REAL: .real(item.real)
        case CTOML_BOOLEAN: .boolean(item.boolean)
        default: .other
        }
    }

    private static func place(_ item: ctoml_item) -> TextPlace {
        TextPlace(line: Int(item.line), column: Int(item.column))
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count), as: UTF8.self)
    }
}
