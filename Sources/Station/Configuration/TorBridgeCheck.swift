import Glibc

/// Finds what is wrong with the bridges in a piece of tor's configuration before tor is told of it. Of other lines it
/// knows nothing.
public struct TorBridgeCheck {
    /// `FILE:LINE: MESSAGE`, without the bridges themselves.
    public private(set) var problems: [String] = []
    public private(set) var bridges = 0

    private let file: String
    private var usesBridges = false
    private var firstBridge: Int?
    private var transportsUsed: [(name: String, line: Int)] = []
    private var transportsOffered: Set<String> = []

    /// - Parameter isProgram: whether a path can be run.
    public init(_ text: String, file: String, isProgram: (String) -> Bool = { access($0, X_OK) == 0 }) {
        self.file = TerminalText.escape(file)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() { read(line, number: index + 1, isProgram) }
        finish()
    }

    private mutating func read(_ line: Substring, number: Int, _ isProgram: (String) -> Bool) {
        let line = line.drop { $0 == " " || $0 == "\t" }
        guard !line.hasPrefix("#") else { return }
        let keyword = line.prefix { $0 != " " && $0 != "\t" }
        let value = line.dropFirst(keyword.count).drop { $0 == " " || $0 == "\t" }
        switch keyword.lowercased() {
        case "bridge": readBridge(value, number: number)
        case "usebridges":
            guard value == "0" || value == "1" else { return report("UseBridges takes 0 or 1", at: number) }
            usesBridges = value == "1"
        case "clienttransportplugin": readPlugin(value, number: number, isProgram)
        default: break
        }
    }

    private mutating func readBridge(_ value: Substring, number: Int) {
        do throws(TorBridgeLine.Problem) {
            let bridge = try TorBridgeLine(value)
            bridges += 1
            firstBridge = firstBridge ?? number
            if let transport = bridge.transport { transportsUsed.append((transport, number)) }
        } catch {
            report("the bridge " + error.message, at: number)
        }
    }

    private mutating func readPlugin(_ value: Substring, number: Int, _ isProgram: (String) -> Bool) {
        let words = value.split(separator: " ")
        guard words.count >= 3, words[1] == "exec" || words[1].hasPrefix("socks") else {
            return report("ClientTransportPlugin takes names, exec, and a program", at: number)
        }
        transportsOffered.formUnion(words[0].split(separator: ",").map(String.init))
        if words[1] == "exec", !isProgram(String(words[2])) {
            report("there is no program \(TerminalText.escape(String(words[2]))): install it", at: number)
        }
    }

    private mutating func finish() {
        for (name, line) in transportsUsed where !transportsOffered.contains(name) {
            report("no ClientTransportPlugin line offers \(name)", at: line)
        }
        if usesBridges, bridges == 0 { report("UseBridges is 1, and there is no usable Bridge line", at: nil) }
        if let firstBridge, !usesBridges { report("bridges are only used with UseBridges 1", at: firstBridge) }
    }

    private mutating func report(_ message: String, at line: Int?) {
        problems.append(file + (line.map { ":\($0)" } ?? "") + ": " + message)
    }
}
