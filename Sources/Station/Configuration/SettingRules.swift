import Basics
import Radio

extension SettingRule {
    /// A text setting whose characters are checked by `parse`.
    static func text(
        _ allowed: String, parse: @escaping (String) -> Value?, write: @escaping (Value) -> String
    ) -> SettingRule {
        SettingRule(
            allowed: allowed,
            read: { (value: TomlValue) throws(SettingProblem) in
                guard case .text(let text) = value else { return nil }
                return parse(text)
            },
            write: { quoted(write($0)) })
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { out += "\\" }
            out.unicodeScalars.append(scalar)
        }
        return out + "\""
    }
}

extension SettingRule where Value == Bool {
    static var boolean: SettingRule {
        SettingRule(
            allowed: "true or false",
            read: { (value: TomlValue) throws(SettingProblem) in
                if case .boolean(let truth) = value { truth } else { nil }
            },
            write: { "\($0)" })
    }
}

extension SettingRule where Value: FixedWidthInteger {
    static func integer(_ range: ClosedRange<Value>) -> SettingRule {
        SettingRule(
            allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { (value: TomlValue) throws(SettingProblem) in
                guard case .integer(let number) = value, let exact = Value(exactly: number) else { return nil }
                return range.contains(exact) ? exact : nil
            },
            write: { "\($0)" })
    }
}

extension SettingRule where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> SettingRule {
        SettingRule(
            allowed: "a number from \(plain(range.lowerBound)) to \(plain(range.upperBound))",
            read: { (value: TomlValue) throws(SettingProblem) in
                let number: Double
                switch value {
                case .integer(let whole): number = Double(whole)
                case .real(let real): number = real
                default: return nil
                }
                return range.contains(number) ? number : nil
            },
            write: { "\($0)" })
    }

    private static func plain(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

extension SettingRule where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static var choice: SettingRule {
        let names = Value.allCases.map { "\"\($0.rawValue)\"" }
        let allButLast = names.dropLast().joined(separator: ", ")
        return .text(
            (allButLast.isEmpty ? "" : allButLast + " or ") + (names.last ?? ""), parse: { Value(rawValue: $0) },
            write: { $0.rawValue })
    }
}

extension SettingRule {
    /// A list of texts, each understood by `element`, which says what is wrong with one. Repeats are refused.
    static func list<Element: Hashable>(
        atMost limit: Int, of what: String, element: @escaping (String) -> Result<Element, ElementProblem>,
        write: @escaping (Element) -> String
    ) -> SettingRule where Value == [Element] {
        SettingRule(
            allowed: "a list of at most \(limit) \(what)",
            read: { (value: TomlValue) throws(SettingProblem) in
                guard case .array(let elements) = value, elements.count <= limit else { return nil }
                var list: [Element] = []
                for item in elements {
                    guard case .text(let text) = item.value else {
                        throw SettingProblem(
                            message: "must be a list of \(what), not of \(item.value.shown)", place: item.place)
                    }
                    switch element(text) {
                    case .failure(let problem):
                        throw SettingProblem(message: "\(item.value.shown) \(problem.message)", place: item.place)
                    case .success(let entry):
                        guard !list.contains(entry) else {
                            throw SettingProblem(message: "\(item.value.shown) is listed twice", place: item.place)
                        }
                        list.append(entry)
                    }
                }
                return list
            },
            write: { "[" + $0.map { quoted(write($0)) }.joined(separator: ", ") + "]" })
    }
}

struct ElementProblem: Error, Equatable, ExpressibleByStringInterpolation {
    let message: String

    init(stringLiteral message: String) { self.message = message }
}

extension SettingRule where Value == String {
    /// Longest path the settings take: what fits a socket address with its temporary suffix.
    private static var pathLimit: Int { 100 }

    /// Absolute, and without control characters, which no TOML text may hold as they are.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= pathLimit && !text.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }

    static var path: SettingRule {
        .text(
            "an absolute path of at most \(pathLimit) bytes",
            parse: { text in
                isPath(text) ? text : nil
            }, write: { $0 })
    }
}

extension SettingRule where Value == String {
    static var pathOrNone: SettingRule {
        .text(
            "an absolute path of at most \(pathLimit) bytes, or \"none\"",
            parse: { text in
                isPath(text) || text == "none" ? text : nil
            }, write: { $0 })
    }
}

extension SettingRule where Value == AirName {
    static var airName: SettingRule {
        .text("1 to 32 characters of a-z, 0-9 and -", parse: { AirName($0) }, write: { $0.text })
    }
}
