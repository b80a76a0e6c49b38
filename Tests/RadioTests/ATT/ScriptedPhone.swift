import Basics
import XCTest

/// A phone's ATT as an operating system and its application make it: a server with handles of its own and, if asked, a
/// client that looks at everything. Written apart from the code under test.
final class ScriptedPhone {
    struct Habits {
        var mtu = 517
        /// Android: a request nobody in the application handles is never answered (chapter 03 A12.3).
        var ignoresReads = false
        /// Android: every write of the descriptor adds a subscriber, who gets a notification each.
        var countsEverySubscription = false
        /// Refuses reads of what needs pairing: whoever tries raises a dialog.
        var hasBattery = false
        /// Its own questions are answered before it answers ours.
        var asksFirst: [String] = []
        /// First handle of the mesh service.
        var meshStart: UInt16 = 0x0028
    }

    let habits: Habits
    private(set) var mtu = 23
    private(set) var subscriptions = 0
    /// Values written to the mesh characteristic.
    private(set) var written: [[UInt8]] = []
    /// Everything we were asked or told that a phone should not be.
    private(set) var offences: [String] = []
    /// Answers to its own questions.
    private(set) var answers: [String] = []
    /// Values it was notified of as a client.
    private(set) var notified: [[UInt8]] = []
    /// What it wants to send, in order.
    var outbox: [[UInt8]] = []

    private var questions: [String]
    private var heldAnswers: [[UInt8]] = []
    private var isSubscribing = false
    private let rows: [(handle: UInt16, type: [UInt8], value: [UInt8])]
    private var services: [(start: UInt16, end: UInt16)] = []

    var valueHandle: UInt16 { habits.meshStart + 2 }
    private var configurationHandle: UInt16 { habits.meshStart + 3 }

    init(_ habits: Habits) {
        self.habits = habits
        questions = habits.asksFirst
        func le(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
        let mesh = habits.meshStart
        var rows: [(handle: UInt16, type: [UInt8], value: [UInt8])] = [
            (0x0001, le(0x2800), le(0x1801)), (0x0002, le(0x2803), [0x20, 0x03, 0x00] + le(0x2A05)),
            (0x0003, le(0x2A05), []), (0x0014, le(0x2800), le(0x1800)),
            (0x0015, le(0x2803), [0x02, 0x16, 0x00] + le(0x2A00)), (0x0016, le(0x2A00), Array("phone".utf8)),
        ]
        services = [(0x0001, 0x0003), (0x0014, 0x0016), (mesh, mesh + 3)]
        if habits.hasBattery {
            services.insert((0x0020, 0x0022), at: 2)
            rows += [
                (0x0020, le(0x2800), le(0x180F)), (0x0021, le(0x2803), [0x12, 0x22, 0x00] + le(0x2A19)),
                (0x0022, le(0x2A19), [100]),
            ]
        }
        rows += [
            (mesh, le(0x2800), bytes(serviceHex)),
            (mesh + 1, le(0x2803), [0x1E] + le(mesh + 2) + bytes(characteristicHex)),
            (mesh + 2, bytes(characteristicHex), []), (mesh + 3, le(0x2902), [0, 0]),
        ]
        self.rows = rows
        if !questions.isEmpty { outbox.append(bytes(questions[0])) }
    }

    /// Sends a frame as its server does.
    func notify(_ frame: [UInt8]) {
        for _ in 0..<subscriptions {
            outbox.append([0x1B, UInt8(valueHandle & 0xFF), UInt8(valueHandle >> 8)] + frame.prefix(mtu - 3))
        }
    }

    /// Sends a frame as its client does.
    func write(_ frame: [UInt8]) { outbox.append(bytes("52 12 00") + frame) }

    func receive(_ pdu: [UInt8]) {
        let opcode = pdu[0]
        switch opcode {
        case 0x1B: notified.append(Array(pdu.dropFirst(3)))
        case 0x01 where !questions.isEmpty && pdu[1] == bytes(questions[0])[0], 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D,
            0x0F, 0x11, 0x13, 0x17, 0x19:
            answered(pdu)
        default:
            guard let answer = answer(pdu) else { return }
            if questions.isEmpty { outbox.append(answer) } else { heldAnswers.append(answer) }
        }
    }

    private func answered(_ pdu: [UInt8]) {
        guard !questions.isEmpty else { return offences.append("an answer nobody asked for: \(hex(pdu))") }
        answers.append(hex(pdu))
        questions.removeFirst()
        guard questions.isEmpty else { return outbox.append(bytes(questions[0])) }
        outbox += heldAnswers
        heldAnswers = []
    }

    private func answer(_ pdu: [UInt8]) -> [UInt8]? {
        func short(_ at: Int) -> UInt16 { UInt16(pdu[at]) | UInt16(pdu[at + 1]) << 8 }
        func le(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
        func error(_ handle: UInt16, _ code: UInt8) -> [UInt8] { [0x01, pdu[0]] + le(handle) + [code] }
        if pdu.count > mtu { offences.append("longer than the MTU: \(pdu.count)") }
        switch pdu[0] {
        case 0x02:
            if mtu != 23 { offences.append("the MTU asked for twice") }
            mtu = max(23, min(Int(short(1)), habits.mtu))
            return [0x03] + le(UInt16(habits.mtu))
        case 0x04:
            let row = rows.first { $0.handle >= short(1) && $0.handle <= short(3) }
            return row.map { [0x05, $0.type.count == 2 ? 1 : 2] + le($0.handle) + $0.type } ?? error(short(1), 0x0A)
        case 0x06:
            let found = services.first { service in
                rows.contains { $0.handle == service.start && $0.value == Array(pdu[7...]) }
            }
            return found.map { [0x07] + le($0.start) + le($0.end) } ?? error(short(1), 0x0A)
        case 0x08:
            let row = rows.first {
                $0.handle >= short(1) && $0.handle <= short(3) && $0.type == Array(pdu[5...])
            }
            return row.map { [0x09, UInt8(2 + $0.value.count)] + le($0.handle) + $0.value } ?? error(short(1), 0x0A)
        case 0x0A, 0x0C:
            offences.append("read of \(short(1))")
            return habits.ignoresReads ? nil : error(short(1), 0x0F)
        case 0x16, 0x18:
            offences.append("a prepared write")
            return habits.ignoresReads ? nil : error(0, 0x06)
        case 0x12, 0x52:
            written(Array(pdu[3...]), to: short(1))
            return pdu[0] == 0x12 ? [0x13] : nil
        case 0x1E: return nil
        default:
            offences.append("opcode \(pdu[0])")
            return error(0, 0x06)
        }
    }

    private func written(_ value: [UInt8], to handle: UInt16) {
        switch handle {
        case valueHandle: written.append(value)
        case configurationHandle where value == [1, 0]:
            subscriptions = habits.countsEverySubscription ? subscriptions + 1 : 1
        default: offences.append("a write of \(hex(value)) to \(handle)")
        }
    }
}
