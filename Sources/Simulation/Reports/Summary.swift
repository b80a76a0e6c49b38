import Basics
import Mesh
import Wire

/// The table at the end of a run.
public struct Summary {
    public let rows: [(name: String, value: String)]

    public init(_ run: SimulationRun) {
        let mesh = run.mesh
        let log = run.log
        var rows: [(name: String, value: String)] = [
            ("scenario", type(of: run.scenario).name),
            ("seed", String(run.setting.seed)),
            ("virtual time", ClockText.text(mesh.elapsed)),
            ("steps", Summary.grouped(mesh.steps)),
            ("nodes", String(mesh.nodes.count)),
            ("links at the end", String(mesh.linkCount)),
            ("messages said", Summary.grouped(UInt64(log.said.count))),
            ("messages heard", Summary.heard(log)),
        ]
        if let reference = run.reference {
            rows.append(("due by the reference mesh", Summary.grouped(UInt64(reference.due))))
        }
        rows += Summary.delays(log)
        rows.append(("frames on the air", Summary.traffic(run.traffic)))
        rows += run.scenario.findings
        rows.append(("drops", Summary.drops(mesh)))
        rows.append(("signature checks", Summary.grouped(mesh.signatureChecks)))
        rows.append(("digest", run.digest))
        self.rows = rows
    }

    /// Two columns.
    public var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { $0.name + String(repeating: " ", count: width + 2 - $0.name.count) + $0.value + "\n" }
            .joined()
    }

    private static func heard(_ log: DeliveryLog) -> String {
        let replays = log.deliveries.count { $0.isReplay }
        return "\(grouped(UInt64(log.deliveries.count))), of these \(grouped(UInt64(replays))) from history"
    }

    /// How long live messages took.
    private static func delays(_ log: DeliveryLog) -> [(name: String, value: String)] {
        let delays = log.deliveries.filter { !$0.isReplay }.map { ($0.at - log.said[$0.message].at).milliseconds }
            .sorted()
        guard let last = delays.last else { return [] }
        let at = { (share: Double) in delays[min(delays.count - 1, Int(share * Double(delays.count)))] }
        return [("live delay", "half \(at(0.5)) ms, 99 % \(at(0.99)) ms, longest \(last) ms")]
    }

    private static func traffic(_ traffic: TrafficCount) -> String {
        let types = traffic.byType.prefix(5).map { "\($0.type.name) \(grouped($0.frames))" }
        return "\(grouped(traffic.frameCount)) (\(types.joined(separator: ", ")))"
    }

    private static func drops(_ mesh: SimulatedMesh) -> String {
        var drops = Tally<MeshDrop>()
        for node in mesh.nodes { drops = drops.adding(node.drops) }
        let largest = drops.all.filter { $0.count > 0 }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(6)
        return largest.map { "\($0.name) \(grouped($0.count))" }.joined(separator: ", ")
    }

    /// `1,234,567`
    static func grouped(_ number: UInt64) -> String {
        let digits = String(number)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }
}

extension MessageType {
    /// The field's word for it.
    var name: String {
        switch self {
        case .announce: "announce"
        case .message: "message"
        case .leave: "leave"
        case .courierEnvelope: "courier"
        case .noiseHandshake: "handshake"
        case .noiseEncrypted: "noise"
        case .fragment: "fragment"
        case .requestSync: "sync request"
        case .fileTransfer: "file"
        case .boardPost: "board"
        case .prekeyBundle: "prekeys"
        case .groupMessage: "group"
        case .ping: "ping"
        case .pong: "pong"
        case .nostrCarrier: "carrier"
        case .voiceFrame: "voice"
        default: "type \(rawValue)"
        }
    }
}
