import TestSupport

/// Who travels on which of tor's circuits, by its own account.
struct Circuits: CustomStringConvertible {
    /// The credentials of the streams on each circuit.
    private var users: [(circuit: String, user: String, password: String)] = []
    let description: String

    init(_ network: TorNetwork) throws {
        let lines = try network.ask("GETINFO circuit-status")
        description = lines.joined(separator: "\n")
        for line in lines {
            let words = line.split(separator: " ")
            guard let circuit = words.first, words.count > 1, words[1] == "BUILT",
                let user = Circuits.value("SOCKS_USERNAME", in: line),
                let password = Circuits.value("SOCKS_PASSWORD", in: line)
            else { continue }
            users.append((String(circuit), user, password))
        }
    }

    /// The passwords seen with a user name.
    func credentials(of user: String) -> Set<String> { Set(users.filter { $0.user == user }.map(\.password)) }

    /// Whether no circuit serves two credentials.
    var areSeparate: Bool {
        Dictionary(grouping: users, by: \.circuit).values.allSatisfy {
            Set($0.map { $0.user + $0.password }).count == 1
        }
    }

    private static func value(_ key: String, in line: String) -> String? {
        guard let range = line.range(of: key + "=\"") else { return nil }
        return String(line[range.upperBound...].prefix { $0 != "\"" })
    }
}
