import Basics
import Radio

/// What is wrong with a radio, and what a person can do about it: each state has words of its own, since each has
/// another cure.
enum RadioAdvice {
    /// A stranger's connection is worth a word for so long.
    private static let strangerMemory = Interval.minutes(10)
    /// An adapter that nobody could connect to for so long, and that heard as many neighbours meanwhile as somebody who
    /// stays shows in ten minutes, is worth a look.
    private static let unanswered = Interval.hours(3)
    private static let neighboursHeard = 60

    static func attention(of radio: any ObservedRadio, at now: Instant) -> [StatusReport.Attention] {
        attention(adapters: radio.adapters, obstacle: radio.obstacle, at: now) { ProcessTable().isRunning($0) }
    }

    /// - Parameters:
    ///   - obstacle: why there is no adapter at all.
    ///   - isRunning: whether a process found earlier is still there.
    static func attention(
        adapters: [AdapterSnapshot], obstacle: AdapterStatus.State?, at now: Instant,
        isRunning: (ChannelRival) -> Bool
    ) -> [StatusReport.Attention] {
        if let obstacle { return [withoutAdapters(obstacle)] }
        return adapters.flatMap { adapter -> [StatusReport.Attention] in
            if let advice = advice(adapter) { return [advice] }
            return [sharing(adapter, at: now, isRunning: isRunning), silence(of: adapter, at: now)].compactMap { $0 }
        }
    }

    private static func sharing(
        _ adapter: AdapterSnapshot, at now: Instant, isRunning: (ChannelRival) -> Bool
    ) -> StatusReport.Attention? {
        let rival = adapter.rival.flatMap { isRunning($0) ? $0 : nil }
        let isProven = adapter.lastStranger.map { now - $0 < strangerMemory } ?? false
        guard isProven || rival != nil else { return nil }
        let name = rival.map { "\(TerminalText.escape($0.name)) (process \($0.pid))" }
        let isDaemon = rival.map { $0.name == ProcessTable.bluetoothDaemon } ?? true
        return StatusReport.Attention(
            code: "adapter_shared",
            message: isProven
                ? "\(name ?? "Another program") answers phones that connect to \(adapter.name)"
                    + (name == nil ? ", most likely the system's Bluetooth daemon." : ".")
                : "\(name ?? "Another program") claims every Bluetooth adapter, and may answer phones that connect to"
                    + " \(adapter.name).",
            remedy: isDaemon ? "systemctl mask --now bluetooth" : "Stop it, or give it another adapter.")
    }

    /// Advertising may be off the air while everything says that it is on.
    private static func silence(of adapter: AdapterSnapshot, at now: Instant) -> StatusReport.Attention? {
        guard let opened = adapter.openSince else { return nil }
        let since = max(opened, adapter.lastAccepted ?? opened)
        guard now - since >= unanswered, adapter.heardUnlinked >= neighboursHeard else { return nil }
        return StatusReport.Attention(
            code: "adapter_unanswered",
            message: "\(adapter.name) has been open to phones for hours and hears some, and none has connected.",
            remedy: "Open bitchat on a phone beside it. If they do not find each other, unplug the adapter and plug it"
                + " in again, or restart the machine; `bitgate doctor` says who else uses it.")
    }

    private static func withoutAdapters(_ obstacle: AdapterStatus.State) -> StatusReport.Attention {
        guard obstacle != .forbidden else { return forbidden }
        return StatusReport.Attention(
            code: "adapter_absent", message: "There is no Bluetooth controller, so phones cannot reach this box.",
            remedy: "Plug one in; on a Raspberry Pi, see that config.txt does not switch the built-in one off "
                + "(dtoverlay=disable-bt). The box uses it as soon as it appears.")
    }

    private static let forbidden = StatusReport.Attention(
        code: "adapter_forbidden", message: "This process may not manage Bluetooth controllers.",
        remedy: "Start it as its systemd unit does, or give it CAP_NET_ADMIN and CAP_NET_RAW.")

    /// Nil for an adapter that works or is on its way.
    private static func advice(_ adapter: AdapterSnapshot) -> StatusReport.Attention? {
        let name = adapter.name
        func item(_ code: String, _ message: String, _ remedy: String) -> StatusReport.Attention {
            StatusReport.Attention(code: code, message: message, remedy: remedy)
        }
        switch adapter.state {
        case .ready, .settingUp: return nil
        case .absent:
            return item(
                "adapter_absent", "\(name) is not there.",
                "Plug it in again; the box uses it again as soon as it appears.")
        case .softBlocked:
            return item(
                "adapter_soft_blocked", "\(name) is switched off by software (rfkill).", "rfkill unblock bluetooth")
        case .hardBlocked:
            return item(
                "adapter_hard_blocked", "\(name) is switched off by a hardware switch.",
                "Turn this machine's radio switch or key on.")
        case .poweredOff:
            return item(
                "adapter_powered_off", "\(name) does not power on; the box keeps trying.",
                "See what dmesg says of its firmware; unplug it and plug it in again, or restart the machine.")
        case .wedged:
            return item(
                "adapter_wedged", "\(name) no longer answers, and resets have not helped so far.",
                "Unplug it and plug it in again; a built-in one needs the machine to lose power for a moment.")
        case .forbidden: return forbidden
        case .unsuitable:
            return item(
                "adapter_unsuitable", "\(name) cannot be central and peripheral of Bluetooth LE.",
                "Use another controller: Bluetooth 4.0 or newer with LE.")
        }
    }
}
