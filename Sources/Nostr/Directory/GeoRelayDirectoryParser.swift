import Basics
import Wire

/// Why a directory file is refused, with the line that is to blame, counted from 1. One bad line refuses the whole
/// file: it is one unit of trust (chapter 05 §14.2).
public struct GeoRelayDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        case size = "not 1 to 524288 bytes"
        case notUTF8 = "not UTF-8"
        case header = "first line is not 'relay url,latitude,longitude'"
        case tooManyLines = "more than 5000 relays"
        case columns = "not three columns"
        case coordinate = "not a decimal coordinate in range"
        case address = "not a relay host name"
        case conflict = "same relay at another place before"
        case empty = "no relays"
    }

    public let reason: Reason
    /// nil when the file as a whole is at fault.
    public let line: Int?

    public var description: String { line.map { "line \($0): \(reason.rawValue)" } ?? reason.rawValue }
}

extension GeoRelayDirectory {
    public static let maximumFileBytes = 524_288
    public static let maximumEntries = 5_000

    /// Parses a directory file: CSV without quoting, `relay url,latitude,longitude`.
    public init(csv: [UInt8]) throws(GeoRelayDirectoryError) {
        func fail(_ reason: GeoRelayDirectoryError.Reason, _ line: Int? = nil) -> GeoRelayDirectoryError {
            GeoRelayDirectoryError(reason: reason, line: line)
        }
        guard (1...GeoRelayDirectory.maximumFileBytes).contains(csv.count) else { throw fail(.size) }
        guard csv.withUnsafeBytes({ $0.isValidUTF8 }) else { throw fail(.notUTF8) }

        var entries: [Entry] = []
        var places: [String: Int] = [:]
        var hasHeader = false
        var dataLines = 0
        for (number, line) in GeoRelayDirectory.lines(csv) {
            let columns = line.split(separator: ",", omittingEmptySubsequences: false).map { TextTrimming.trim($0) }
            guard hasHeader else {
                let names = columns.map { $0.lowercased() }
                guard names == ["relay url", "latitude", "longitude"] || names == ["relay url", "lat", "lon"]
                else { throw fail(.header, number) }
                hasHeader = true
                continue
            }
            dataLines += 1
            guard dataLines <= GeoRelayDirectory.maximumEntries else { throw fail(.tooManyLines, number) }
            guard columns.count == 3 else { throw fail(.columns, number) }
            guard let latitude = GeoRelayDirectory.decimal(columns[1]), abs(latitude) <= 90,
                let longitude = GeoRelayDirectory.decimal(columns[2]), abs(longitude) <= 180
            else { throw fail(.coordinate, number) }
            guard let host = GeoRelayDirectory.host(columns[0]) else { throw fail(.address, number) }
            let entry = Entry(host: host, latitude: latitude, longitude: longitude)
            if let earlier = places[host] {
                guard entries[earlier] == entry else { throw fail(.conflict, number) }
                continue
            }
            places[host] = entries.count
            entries.append(entry)
        }
        guard hasHeader else { throw fail(.header) }
        guard !entries.isEmpty else { throw fail(.empty) }
        self.init(entries: entries)
    }

    /// Lines that are not blank, with their numbers. CR, LF and CRLF end a line.
    private static func lines(_ csv: [UInt8]) -> [(number: Int, text: String)] {
        var lines: [(Int, String)] = []
        var number = 1
        var start = 0
        func close(at end: Int) {
            let text = TextTrimming.trim(String(decoding: csv[start..<end], as: UTF8.self))
            if !text.isEmpty { lines.append((number, text)) }
        }
        for (index, byte) in csv.enumerated() where byte == 0x0a || byte == 0x0d {
            close(at: index)
            start = index + 1
            let isFirstOfPair = byte == 0x0d && index + 1 < csv.count && csv[index + 1] == 0x0a
            if !isFirstOfPair { number += 1 }
        }
        close(at: csv.count)
        return lines
    }

    /// `[+-]digits[.digits][e[+-]digits]` in ASCII: narrower than what the language parses as a number.
    private static func decimal(_ text: String) -> Double? {
        var rest = text.utf8[...]
        func takeSign() { if let sign = rest.first, sign == 0x2b || sign == 0x2d { rest = rest.dropFirst() } }
        func takeDigits() -> Bool {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            return !digits.isEmpty
        }
        takeSign()
        guard takeDigits() else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard takeDigits() else { return nil }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            takeSign()
            guard takeDigits() else { return nil }
        }
        guard rest.isEmpty, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// Host and port of an address, as the directory keeps them.
    private static func host(_ address: String) -> String? {
        guard let url = NostrRelayURL(address, defaultScheme: "wss"), url.isSecure, !url.hasUserInfo,
            url.resource == "/", !address.contains("#"), !address.contains("?"), isPublicHostName(url.host)
        else { return nil }
        return url.port == 443 ? url.host : "\(url.host):\(url.port)"
    }

    private static func isPublicHostName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last, !["localhost", "local", "internal"].contains(String(last)),
            labels.contains(where: { !$0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { $0 == 0x2d || (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
        }
    }
}
