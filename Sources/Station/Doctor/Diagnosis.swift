import Radio

/// What the facts about a machine mean for a gateway on it, worst first.
public struct Diagnosis: Equatable, Sendable {
    public let facts: DoctorFacts
    public let findings: [DoctorFinding]

    public init(_ facts: DoctorFacts) {
        self.facts = facts
        var all = Diagnosis.configuration(facts)
        if facts.radioKind != "air" { all += Diagnosis.radio(facts) }
        all +=
            Diagnosis.memory(facts) + Diagnosis.swap(facts.swap) + Diagnosis.clock(facts.clock) + Diagnosis.state(facts)
            + Diagnosis.panel(facts)
        all += Diagnosis.tor(facts)
        findings = all.filter { $0.weight == .fault } + all.filter { $0.weight == .warning }
    }

    enum Limits {
        /// Room in locked pages for all secrets of a busy box, many times over.
        static let lockableMemory: UInt64 = 1 << 20
        /// Below it the vault may have no room for a night of history.
        static let freeBytes: UInt64 = 64 << 20
        /// Linux series the tests run on.
        static let triedSeries = [[6, 1], [6, 12]]
    }

    private static func configuration(_ facts: DoctorFacts) -> [DoctorFinding] {
        switch facts.configuration {
        case .good, .absent: []
        case .hidden(let path):
            [
                DoctorFinding(
                    .warning, "configuration-hidden",
                    "This user may not read \(TerminalText.escape(path)), so the checks below assume the defaults.",
                    remedy: "Run this as root (sudo bitgate doctor), or join the group bitgate and log in again.")
            ]
        case .bad(let text):
            [
                DoctorFinding(
                    .fault, "configuration", "The configuration cannot be used: \(text).",
                    remedy: "Correct the file; `bitgate config check` shows the mistakes.")
            ]
        }
    }

    private static func radio(_ facts: DoctorFacts) -> [DoctorFinding] {
        var all = bluetooth(facts)
        for each in facts.controllers where facts.uses(each) { all += controller(each, facts) }
        all += company(facts) + rights(facts)
        return all + kernel(facts.kernel)
    }

    private static func bluetooth(_ facts: DoctorFacts) -> [DoctorFinding] {
        switch facts.bluetooth {
        case .missing:
            [
                DoctorFinding(
                    .fault, "bluetooth-missing", "This kernel has no Bluetooth sockets.",
                    remedy: "Load the module with `modprobe bluetooth`. Debian's cloud kernels have none: install"
                        + " linux-image-amd64 instead.")
            ]
        case .forbidden:
            [
                DoctorFinding(
                    .fault, "bluetooth-forbidden", "This process may not open Bluetooth sockets.",
                    remedy: "A sandbox forbids them: allow the AF_BLUETOOTH address family.")
            ]
        case .silent:
            [
                DoctorFinding(
                    .fault, "bluetooth-silent", "The kernel's Bluetooth management does not answer.",
                    remedy: "A controller may have hung its driver: unplug it, or restart the machine; the kernel's log"
                        + " (`dmesg`) names it.")
            ]
        case .ready where facts.controllers.isEmpty:
            [
                DoctorFinding(
                    .fault, "no-adapter", "There is no Bluetooth adapter.",
                    remedy:
                        "Plug one in. On a Raspberry Pi, take dtoverlay=disable-bt out of config.txt; without firmware"
                        + " (packages firmware-brcm80211, bluez-firmware, firmware-realtek) the kernel's log complains."
                )
            ]
        case .ready: missing(facts)
        }
    }

    private static func missing(_ facts: DoctorFacts) -> [DoctorFinding] {
        facts.adapters.filter { choice in !facts.controllers.contains { DoctorFacts.choice(choice, names: $0) } }
            .map { choice in
                DoctorFinding(
                    .fault, "adapter-missing", "radio.adapters names \(choice.text), which is missing.",
                    remedy: "Plug it in, or correct radio.adapters; meanwhile bitgated runs without it.")
            }
    }

    private static func controller(
        _ controller: DoctorFacts.Controller, _ facts: DoctorFacts
    ) -> [DoctorFinding] {
        let name = "hci\(controller.index)"
        switch controller.block {
        case .hard:
            return [
                DoctorFinding(
                    .fault, "adapter-hard-blocked", "\(name) is switched off by a hardware switch or key.",
                    remedy: "Switch it on; `rfkill list` shows the state of the switch.")
            ]
        case .soft:
            return [
                DoctorFinding(
                    .fault, "adapter-soft-blocked", "\(name) is blocked by software.",
                    remedy: "Run `rfkill unblock bluetooth`; the setting survives restarts.")
            ]
        case .none: break
        }
        guard let information = controller.information else {
            return [
                DoctorFinding(
                    .fault, "adapter-held",
                    "\(name) is unavailable: another program holds it exclusively, or it failed to start.",
                    remedy: "Stop that program, or reset the adapter: unplug it, or reload its driver.")
            ]
        }
        guard information.supported.contains(.lowEnergy) else {
            return [
                DoctorFinding(
                    .fault, "adapter-unsuitable", "\(name) is too old for Bluetooth Low Energy.",
                    remedy: "Use an adapter of Bluetooth 4.0 or newer.")
            ]
        }
        var findings: [DoctorFinding] = []
        if let instances = controller.instances, !instances.canBeConnected {
            findings.append(
                DoctorFinding(
                    .fault, "adapter-cannot-advertise", "\(name) cannot be found and connected to by phones.",
                    remedy: "Use another adapter; sleeping phones cannot be reached otherwise."))
        }
        if facts.daemon != nil, facts.radioKind == "bluetooth", !information.current.contains(.powered) {
            findings.append(
                DoctorFinding(
                    .fault, "adapter-off", "\(name) is switched off although bitgated runs.",
                    remedy: "See `bitgate status`. If another program switches it off, stop that program."))
        }
        if controller.sharesAntenna {
            findings.append(
                DoctorFinding(
                    .warning, "shared-antenna", "\(name) shares its chip with the Wi-Fi that is this box's uplink.",
                    remedy: "Use Ethernet, or a USB Bluetooth adapter: scanning starves Wi-Fi on such chips."))
        }
        return findings
    }

    private static func company(_ facts: DoctorFacts) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for holder in facts.holders {
            let name = "\(TerminalText.escape(holder.name)) (process \(holder.pid))"
            if holder.name == "bluetoothd" {
                findings.append(
                    DoctorFinding(
                        .fault, "bluetoothd",
                        "\(name) runs. It claims every adapter, answers phones instead of bitgated"
                            + " and stops its advertising.",
                        remedy: "Run `systemctl mask --now bluetooth`."))
            } else if holder.sockets.contains(.links), let daemon = facts.daemon, holder.started > daemon.started {
                findings.append(
                    DoctorFinding(
                        .warning, "younger-listener",
                        "\(name) has opened Bluetooth links after bitgated: if it listens,"
                            + " the kernel gives it the phones that connect.",
                        remedy: "Stop it, or restart bitgated after it."))
            } else if holder.sockets.contains(.links) {
                findings.append(
                    DoctorFinding(
                        .warning, "other-links", "\(name) also has Bluetooth links.",
                        remedy: "Stop it unless it uses different adapters; it takes links and airtime from bitgated."))
            }
        }
        return findings
    }

    private static func rights(_ facts: DoctorFacts) -> [DoctorFinding] {
        let process = facts.daemon ?? facts.own
        guard !process.capabilities.contains(.networkAdministration) else { return [] }
        return [
            DoctorFinding(
                .fault, "no-net-admin", "\(who(facts)) may not manage Bluetooth adapters: CAP_NET_ADMIN is missing.",
                remedy: "Set AmbientCapabilities=CAP_NET_ADMIN in the service, run `setcap cap_net_admin+ep` on the"
                    + " program, or run it as root.")
        ]
    }

    private static func memory(_ facts: DoctorFacts) -> [DoctorFinding] {
        let process = facts.daemon ?? facts.own
        guard process.lockableMemory < Limits.lockableMemory, !process.capabilities.contains(.memoryLock) else {
            return []
        }
        return [
            DoctorFinding(
                .warning, "memory-lock",
                "\(who(facts)) may lock only \(process.lockableMemory / 1_024) KiB of memory;"
                    + " keys may reach a swap partition.",
                remedy: lockingRemedy)
        ]
    }

    /// For keys that the system does not lock in memory.
    static let lockingRemedy = "Set LimitMEMLOCK=16M in the service (shell: `ulimit -l 16384`), or use no swap."

    private static func swap(_ places: [String]) -> [DoctorFinding] {
        guard !places.isEmpty else { return [] }
        return [
            DoctorFinding(
                .warning, "swap",
                "bitgated's memory may be written to \(TerminalText.escape(places.joined(separator: ", "))),"
                    + " beyond the reach of a wipe: MemorySwapMax=0 has no effect on this kernel.",
                remedy:
                    "Turn swap off (`swapoff -a`, and its line out of /etc/fstab; on Raspberry Pi OS, Mechanism=none"
                    + " in /etc/rpi/swap.conf), or encrypt it.")
        ]
    }

    private static func who(_ facts: DoctorFacts) -> String { facts.daemon == nil ? "This user" : "bitgated" }

    private static func kernel(_ kernel: KernelRelease) -> [DoctorFinding] {
        let remedy =
            "Install Debian's Linux 6.12 (on Debian 12: package linux-image-6.12-amd64, or -arm64) and restart."
        guard kernel.series == (6, 1) else {
            guard kernel.series.major > 0, !Limits.triedSeries.contains([kernel.series.major, kernel.series.minor])
            else { return [] }
            return kernel.series < (6, 1)
                ? [
                    DoctorFinding(
                        .warning, "kernel-old", "Linux \(kernel.version) is older than any tested version.",
                        remedy: "Use Linux 6.1 or newer.")
                ] : []
        }
        switch kernel.patch {
        case 192...:
            return [
                DoctorFinding(
                    .fault, "kernel-closing",
                    "Linux \(kernel.version): from 6.1.192 on, closing a link that has ended kills"
                        + " the process that held it.", remedy: remedy)
            ]
        case 176...191:
            return [
                DoctorFinding(
                    .warning, "kernel-blocking",
                    "Linux \(kernel.version): another program that waits in a Bluetooth"
                        + " socket can stop an adapter for all. bitgated itself never waits there.", remedy: remedy)
            ]
        default: return []
        }
    }

    private static func clock(_ clock: ClockSource) -> [DoctorFinding] {
        guard !clock.isTrusted else { return [] }
        return [
            DoctorFinding(
                .warning, "clock", "The clock is not synchronised; peers ignore a box that is two minutes off.",
                remedy:
                    "Run a time service, such as systemd-timesyncd or chrony, or set clock.trust_system if the clock is"
                    + " known to be right.")
        ]
    }

    private static func tor(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard case .closed(let why) = facts.tor else { return facts.torDenials.map(denial) }
        return [
            DoctorFinding(
                .fault, "tor-socket",
                "network.tor is required, and tor takes no connections at "
                    + "\(TerminalText.escape(facts.torSocket)): \(why).",
                remedy:
                    "Install and start tor with that SocksPort, or correct network.socks: docs/tor.md. Nothing goes to"
                    + " relays without it.")
        ]
    }

    private static func denial(_ denial: DoctorFacts.TorDenial) -> DoctorFinding {
        let user = TerminalText.escape(denial.user)
        let isWay = denial.key == "network.socks"
        let remedy =
            switch denial.cure {
            case .joining(let group): "Run `usermod -a -G \(TerminalText.escape(group)) \(user)` and restart bitgated."
            case .restart: "Restart bitgated: its user got the permission after it started."
            case .opening:
                "Add GroupWritable RelaxDirModeCheck to tor's SocksPort and ControlSocket, set"
                    + " CookieAuthFileGroupReadable 1, and restart tor: docs/tor.md."
            }
        return DoctorFinding(
            isWay ? .fault : .warning, isWay ? "tor-forbidden" : "tor-control-forbidden",
            "\(denial.key): user \(user) of bitgated cannot get past \(TerminalText.escape(denial.path)): "
                + (isWay ? "nothing goes to relays." : "the box does not know tor's progress."), remedy: remedy)
    }

    private static func panel(_ facts: DoctorFacts) -> [DoctorFinding] {
        facts.panel.compactMap { line in
            line.problem.map { problem in
                DoctorFinding(
                    .warning, "panel-line", "\(line.key): \(TerminalText.escape("\(problem)")).",
                    remedy: PanelAdvice.remedy(problem))
            }
        }
    }

    private static func state(_ facts: DoctorFacts) -> [DoctorFinding] {
        let path = TerminalText.escape(facts.stateDirectory)
        func fault(_ message: String, _ remedy: String) -> [DoctorFinding] {
            [DoctorFinding(.fault, "state-directory", "state_directory: \(path) \(message).", remedy: remedy)]
        }
        return switch facts.state {
        case .good, .absent: []
        case .homeless: fault("cannot be created: its parent directory is missing", "Create that first.")
        case .notDirectory: fault("is not a directory", "Choose another place, or move it away.")
        case .foreign: fault("belongs to another user", "Run bitgated as its owner, or chown it.")
        case .open: fault("is accessible to other users but holds keys", "Run `chmod 0700 \(path)`.")
        case .readOnly: fault("cannot be written", "Choose a writable directory, or mount it writable.")
        case .unreadable(let reason): fault("cannot be checked: \(reason)", "Run this as root.")
        case .full(let free):
            [
                DoctorFinding(
                    .warning, "state-space", "state_directory: \(path) has only \(free >> 20) MiB of free space.",
                    remedy: "Free some space (see `df`); otherwise new data is kept in memory only.")
            ]
        }
    }
}
