import Panel
import Radio

/// The diagnosis for people and for scripts.
public enum DoctorReport {
    public static func text(_ diagnosis: Diagnosis) -> String {
        let facts = diagnosis.facts
        var lines = diagnosis.findings.flatMap { finding in
            [(finding.weight == .fault ? "!! " : "!  ") + finding.message, "   " + finding.remedy]
        }
        if !lines.isEmpty { lines.append("") }
        for controller in facts.controllers {
            let unused = facts.uses(controller) ? "" : "not bitgated's: "
            lines.append(line("hci\(controller.index)", unused + adapter(controller)))
        }
        if facts.controllers.isEmpty { lines.append(line("adapters", "none")) }
        lines.append(line("held by", holders(facts)))
        lines.append(line("rights", rights(facts)))
        lines.append(line("kernel", TerminalText.escape(kernel(facts.kernel))))
        lines.append(line("clock", facts.clock.rawValue))
        lines.append(line("state", TerminalText.escape(facts.stateDirectory) + note(facts.state)))
        lines.append(
            line("settings", facts.configuration == .absent ? "defaults: there is no configuration file" : note(facts)))
        lines.append(line("panel", panel(facts)))
        lines.append(line("tor", tor(facts)))
        lines.append("")
        lines.append(verdict(diagnosis.findings))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ name: String, _ value: String) -> String {
        name + String(repeating: " ", count: max(1, 12 - name.count)) + value
    }

    private static func verdict(_ findings: [DoctorFinding]) -> String {
        let faults = findings.count { $0.weight == .fault }
        let warnings = findings.count - faults
        return findings.isEmpty
            ? "All is well."
            : "\(faults) \(faults == 1 ? "fault" : "faults"), \(warnings) \(warnings == 1 ? "warning" : "warnings")."
    }

    private static func adapter(_ controller: DoctorFacts.Controller) -> String {
        var parts: [String] = []
        switch controller.block {
        case .soft: parts.append("blocked by software")
        case .hard: parts.append("switched off by hand")
        case .none: break
        }
        guard let information = controller.information else {
            return (parts + ["unavailable"]).joined(separator: ", ")
        }
        parts.append(information.current.contains(.powered) ? "on" : "off")
        parts.append("Bluetooth " + version(information.version))
        if information.supported.contains(.lowEnergy) {
            let advertises = controller.instances?.canBeConnected ?? information.supported.contains(.advertising)
            parts.append(advertises ? "central and peripheral" : "central only")
        } else {
            parts.append("no Low Energy")
        }
        if let instances = controller.instances {
            parts.append("\(instances.instances.count) of \(instances.mostInstances) advertisements")
        }
        parts.append(controller.links == 1 ? "1 link" : "\(controller.links) links")
        if controller.attachment != .other { parts.append(controller.attachment.rawValue) }
        return parts.joined(separator: ", ")
    }

    /// By the number the controller gives (Bluetooth Assigned Numbers, "Core Version").
    static func version(_ number: UInt8) -> String {
        let names = ["1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4"]
        return Int(number) < names.count ? names[Int(number)] : "6.0 or newer"
    }

    private static func holders(_ facts: DoctorFacts) -> String {
        var parts = facts.holders.map { "\(TerminalText.escape($0.name)) (process \($0.pid))" }
        if let daemon = facts.daemon, !facts.daemonSockets.isEmpty {
            parts.insert("bitgated (process \(daemon.pid))", at: 0)
        }
        if !facts.seesAllProcesses { parts.append("run as root to see others") }
        return parts.isEmpty ? "nobody" : parts.joined(separator: ", ")
    }

    private static func rights(_ facts: DoctorFacts) -> String {
        let process = facts.daemon ?? facts.own
        let names: [(DoctorFacts.Capabilities, String)] = [
            (.networkAdministration, "CAP_NET_ADMIN"), (.rawNetwork, "CAP_NET_RAW"), (.memoryLock, "CAP_IPC_LOCK"),
        ]
        let held = names.filter { process.capabilities.contains($0.0) }.map(\.1)
        let memory =
            process.lockableMemory == .max ? "any amount" : "\(process.lockableMemory / 1_024) KiB"
        return (facts.daemon == nil ? "of this user: " : "of bitgated: ")
            + (held.isEmpty ? "no capabilities" : held.joined(separator: ", ")) + "; may lock \(memory) of memory"
    }

    private static func tor(_ facts: DoctorFacts) -> String {
        let place = TerminalText.escape(facts.torSocket)
        return switch facts.tor {
        case .unneeded: "off"
        case .listens: "listens at \(place)"
        case .forbidden: "\(place): this user may not connect"
        case .closed(let why): "\(place): \(why)"
        }
    }

    private static func panel(_ facts: DoctorFacts) -> String {
        guard !facts.panel.isEmpty else { return "none" }
        let lines = facts.panel.map { line in
            let name = line.key.split(separator: ".").last ?? ""
            return "\(name) \(TerminalText.escape(line.address.description)) (\(line.place ?? "missing"))"
        }
        return (lines + ["by \(GPIOChips.library)"]).joined(separator: ", ")
    }

    private static func kernel(_ kernel: KernelRelease) -> String {
        kernel.release.hasPrefix(kernel.version) ? kernel.release : "\(kernel.release), Debian's \(kernel.version)"
    }

    private static func note(_ state: DoctorFacts.State) -> String {
        state == .absent ? ", created at the first start" : ""
    }
    private static func note(_ facts: DoctorFacts) -> String {
        facts.configuration == .good ? "radio.kind = \"\(facts.radioKind)\"" : "cannot be read"
    }

    public static func json(_ diagnosis: Diagnosis) -> String {
        let facts = diagnosis.facts
        let value: JSONValue = [
            "findings": .list(
                diagnosis.findings.map {
                    [
                        "code": .text($0.code), "weight": .text($0.weight.rawValue), "message": .text($0.message),
                        "remedy": .text($0.remedy),
                    ]
                }),
            "adapters": .list(facts.controllers.map { json($0, isUsed: facts.uses($0)) }),
            "bluetooth": .text(facts.bluetooth.rawValue),
            "holders": .list(
                facts.holders.map {
                    [
                        "name": .text($0.name), "pid": .integer(Int64($0.pid)),
                        "has_links": .truth($0.sockets.contains(.links)),
                        "has_controllers": .truth($0.sockets.contains(.controllers)),
                    ]
                }),
            "sees_all_processes": .truth(facts.seesAllProcesses),
            "daemon_pid": facts.daemon.map { .integer(Int64($0.pid)) },
            "capabilities": .count((facts.daemon ?? facts.own).capabilities.rawValue),
            "lockable_memory": .count((facts.daemon ?? facts.own).lockableMemory),
            "kernel": .text(facts.kernel.release), "kernel_version": .text(facts.kernel.version),
            "panel": .list(
                facts.panel.map {
                    [
                        "key": .text($0.key), "line": .text($0.address.description),
                        "place": $0.place.map { .text($0) }, "problem": $0.problem.map { .text("\($0)") },
                    ]
                }),
            "swap": .list(facts.swap.map { .text($0) }), "tor": .text(torName(facts.tor)),
            "tor_denied": .list(facts.torDenials.map { ["key": .text($0.key), "path": .text($0.path)] }),
            "clock": .text(facts.clock.rawValue), "state_directory": .text(facts.stateDirectory),
        ]
        return String(decoding: value.encoded(), as: UTF8.self) + "\n"
    }

    private static func torName(_ tor: DoctorFacts.Tor) -> String {
        switch tor {
        case .unneeded: "off"
        case .listens: "listens"
        case .forbidden: "unknown"
        case .closed: "closed"
        }
    }

    private static func json(_ controller: DoctorFacts.Controller, isUsed: Bool) -> JSONValue {
        [
            "used": .truth(isUsed), "name": .text("hci\(controller.index)"), "block": .text(controller.block.rawValue),
            "attachment": .text(controller.attachment.rawValue),
            "powered": controller.information.map { .truth($0.current.contains(.powered)) },
            "low_energy": controller.information.map { .truth($0.supported.contains(.lowEnergy)) },
            "version": controller.information.map { .text(version($0.version)) },
            "advertises": controller.instances.map { .truth($0.canBeConnected) },
            "instances": controller.instances.map { .count($0.instances.count) },
            "links": .count(controller.links),
        ]
    }
}
