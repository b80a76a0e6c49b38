/// A parsed command line: options by name, and what stands beside them.
public struct Arguments {
    public private(set) var words: [String] = []
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// - Parameters:
    ///   - flags: options without a value, such as `--json`.
    ///   - options: options with a value, as `--socket PATH` or `--socket=PATH`.
    public init(_ arguments: [String], flags known: [String], options: [String]) throws(StationFault) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                words.append(argument)
                continue
            }
            if argument == "--" {
                words += rest
                break
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            if known.contains(name) {
                guard parts.count == 1 else { throw .usage("\(name) takes no value") }
                flags.insert(name)
            } else if options.contains(name) {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw .usage("\(name) needs a value")
                }
                guard values.updateValue(value, forKey: name) == nil else { throw .usage("\(name) is given twice") }
            } else {
                // Of one letter, every other letter is as near.
                let near = name.utf8.count > 2 ? NearestKey.find(name, in: known + options) : nil
                let hint = near.map { "; did you mean \($0)?" } ?? ""
                throw .usage("unknown option \(TerminalText.escape(name))\(hint)")
            }
        }
    }

    public func has(_ flag: String) -> Bool { flags.contains(flag) }
    public func value(_ option: String) -> String? { values[option] }

    /// At most `limit` words beside the options.
    public func expectWords(atMost limit: Int) throws(StationFault) {
        if words.count > limit { throw .usage("unexpected argument \(TerminalText.escape(words[limit]))") }
    }
}
