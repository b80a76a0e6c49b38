/// Why a value is refused, with the place to point at.
struct SettingProblem: Error, Equatable {
    let message: String
    let place: TextPlace
}

/// How one kind of value is read from the file and written into the documentation.
struct SettingRule<Value> {
    /// What may stand in the file, as the end of a sentence: "a whole number from 23 to 517".
    let allowed: String
    /// `nil` when the value is not allowed; throws where a more exact place or reason is known.
    let read: (TomlValue) throws(SettingProblem) -> Value?
    /// The value as TOML.
    let write: (Value) -> String
}

/// When a changed value takes effect.
enum SettingEffect: Sendable {
    /// On SIGHUP.
    case reload
    case restart
}

/// One row of the configuration table: the only place that knows a key.
struct Setting {
    let key: String
    let allowed: String
    let effect: SettingEffect
    /// One sentence, for the default file.
    let summary: String
    /// The default as TOML; `nil` when unset by default.
    let standard: String?
    /// A value to show where there is no default.
    let example: String?
    let apply: (TomlEntry, inout Configuration) throws(SettingProblem) -> Void
    /// Whether two configurations have different values here.
    let differs: (Configuration, Configuration) -> Bool
    /// The value in a configuration, as TOML; `nil` when unset there.
    let text: (Configuration) -> String?

    init<Value: Equatable>(
        _ key: String, _ path: WritableKeyPath<Configuration, Value>, _ rule: SettingRule<Value>,
        _ summary: String, _ effect: SettingEffect = .restart
    ) {
        self.init(
            key, rule, effect, summary, standard: rule.write(Configuration()[keyPath: path]), example: nil,
            differs: { $0[keyPath: path] != $1[keyPath: path] }, text: { rule.write($0[keyPath: path]) },
            store: { $0[keyPath: path] = $1 })
    }

    /// A setting that is unset unless the file sets it.
    init<Value: Equatable>(
        _ key: String, _ path: WritableKeyPath<Configuration, Value?>, _ rule: SettingRule<Value>,
        example: String, _ summary: String, _ effect: SettingEffect = .restart
    ) {
        self.init(
            key, rule, effect, summary, standard: nil, example: example,
            differs: { $0[keyPath: path] != $1[keyPath: path] }, text: { $0[keyPath: path].map(rule.write) },
            store: { $0[keyPath: path] = $1 })
    }

    private init<Value>(
        _ key: String, _ rule: SettingRule<Value>, _ effect: SettingEffect, _ summary: String, standard: String?,
        example: String?, differs: @escaping (Configuration, Configuration) -> Bool,
        text: @escaping (Configuration) -> String?, store: @escaping (inout Configuration, Value) -> Void
    ) {
        self.key = key
        self.effect = effect
        self.summary = summary
        self.standard = standard
        self.example = example
        self.differs = differs
        self.text = text
        allowed = rule.allowed
        apply = { (entry: TomlEntry, configuration: inout Configuration) throws(SettingProblem) in
            guard let value = try rule.read(entry.value) else {
                throw SettingProblem(
                    message: "must be \(rule.allowed), not \(entry.value.shown)", place: entry.place)
            }
            store(&configuration, value)
        }
    }

    /// `air` of `air.mtu`; empty at the top of the file.
    var section: String { key.split(separator: ".").dropLast().joined(separator: ".") }
    var name: String { key.split(separator: ".").last.map(String.init) ?? key }
}

extension TomlValue {
    /// Longest quoted part of a value in a message.
    private static let shownLimit = 40

    /// The value for an error message: short and harmless on a terminal.
    var shown: String {
        switch self {
        case .table: "a section"
        case .array(let elements): elements.isEmpty ? "an empty list" : "a list of \(elements.count)"
        case .text(let text):
            "\"" + TerminalText.escape(String(text.prefix(TomlValue.shownLimit)))
                + (text.count > TomlValue.shownLimit ? "…\"" : "\"")
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .boolean(let truth): "\(truth)"
        case .other: "a date or time"
        }
    }
}
