import Basics
import Mesh
import Wire

/// A phone floods one link of a box with packets of a thousand people who do not exist, while two other phones exchange
/// sealed mail through the same box and the nodes behind it.
public final class FloodScenario: Scenario {
    public static let name = "flood"
    public static let summary = "a thousand forged senders at line rate on one link, and mail that must get through"
    public static let usual = Setting(nodes: 3, span: .minutes(5), seed: 1)
    public static let fewestNodes = 1
    public static let shortest = Interval.minutes(1)

    /// What a link carries, and what the flood fills its own with.
    private static let bytesPerSecond = 12_000
    private static let floodBytesPerSecond = 40_000
    private static let senders = 1_000
    private static let reach = 5
    private static let warmUp = Interval.seconds(20)
    /// Between two parcels of one kind, and how long a parcel may be under way.
    private static let pause = Interval.milliseconds(400)
    private static let patience = Interval.seconds(10)
    private static let bytes = 180...380
    /// The least that must get through, in percent.
    private static let share = 50

    private enum Mail: Int, CaseIterable {
        case directed, courier

        var type: MessageType { self == .directed ? .noiseEncrypted : .courierEnvelope }
        var name: String { self == .directed ? "directed" : "courier" }
    }

    private let setting: Setting
    private var random: SeededRandom
    private let sender: PostPhone
    private let receiver: PostPhone
    private let tactic: FloodingPhone.Tactic
    private var flood: FloodingPhone?
    /// The box's name for the link that is flooded.
    private var flooded: LinkID?
    private var sent: [(mail: Mail, at: Instant)] = []
    private var box = 0
    private weak var mesh: SimulatedMesh?
    /// For sabotage only: nothing of it arrives.
    var losesMail = false

    public init(_ setting: Setting) {
        self.setting = setting
        random = SeededRandom(seed: setting.seed ^ 0xf100d)
        tactic = FloodingPhone.Tactic.allCases.randomElement(using: &random) ?? .medley
        sender = PostPhone("olga", seed: setting.seed ^ 0x01)
        receiver = PostPhone("otto", seed: setting.seed ^ 0x02)
    }

    /// Where the receiver is: not farther than a TTL of 7 carries.
    private var last: Int { min(setting.nodes, FloodScenario.reach) - 1 }

    /// The box, in a row with the nodes behind it; the flood and the sender on the box, the receiver at the far end.
    public func prepare(_ run: SimulationRun) {
        let mesh = run.mesh
        self.mesh = mesh
        let conditions = SimulatedMesh.Conditions(delay: 5...30, bytesPerSecond: FloodScenario.bytesPerSecond)
        for node in 0..<setting.nodes { mesh.addNode(node == 0 ? "gate" : nil) }
        for node in 1..<max(1, setting.nodes) { mesh.connect(node - 1, node, conditions) }
        mesh.connect(sender, to: box, conditions)
        mesh.connect(receiver, to: last, conditions)
        let flood = FloodingPhone(
            tactic, senders: FloodScenario.senders, targets: [receiver.id, sender.id] + mesh.nodes.map(\.id),
            bytesPerSecond: FloodScenario.floodBytesPerSecond, seed: random.next())
        self.flood = flood
        var fast = conditions
        fast.bytesPerSecond = FloodScenario.floodBytesPerSecond
        flooded = mesh.channel(mesh.connect(flood, to: box, fast))?.far
        mesh.schedule(after: FloodScenario.warmUp) { [setting] in
            flood.begin(for: setting.span - FloodScenario.warmUp, in: $0)
            self.post($0)
        }
        for node in 0..<setting.nodes {
            Chatter.schedule(
                4, by: node, after: .seconds(5), within: setting.span - .seconds(10), in: mesh, using: &random)
        }
    }

    private func post(_ mesh: SimulatedMesh) {
        for mail in Mail.allCases {
            sender.send(
                mail.type, to: receiver.id, number: UInt64(sent.count),
                bytes: Int.random(in: FloodScenario.bytes, using: &random), in: mesh)
            sent.append((mail, mesh.now.monotonic))
        }
        guard mesh.elapsed + FloodScenario.patience + FloodScenario.pause < setting.span else { return }
        mesh.schedule(after: FloodScenario.pause) { [weak self] in self?.post($0) }
    }

    // MARK: What came of it

    private func share(of mail: Mail) -> (arrived: Int, sent: Int) {
        var count = (arrived: 0, sent: 0)
        for (number, parcel) in sent.enumerated() where parcel.mail == mail {
            count.sent += 1
            guard let arrival = receiver.arrivals[UInt64(number)], arrival - parcel.at <= FloodScenario.patience,
                !losesMail
            else { continue }
            count.arrived += 1
        }
        return count
    }

    public func conclude(_ run: SimulationRun) {
        for mail in Mail.allCases {
            let count = share(of: mail)
            if 100 * count.arrived < FloodScenario.share * count.sent {
                run.mesh.report("flood share", "\(count.arrived) of \(count.sent) \(mail.name) packets got through")
            }
        }
        let box = run.mesh.nodes[box]
        let arrived = box.mesh.links.first { $0.id == flooded }?.framesIn ?? 0
        let admitted = MeshLimits.linkPacketBurst + MeshLimits.linkPacketsPerSecond * setting.span.seconds
        if Double(box.drops.total) < Double(arrived) - admitted - 1 {
            run.mesh.report("flood share", node: box.index, "counts only \(box.drops.total) of \(arrived) frames")
        }
    }

    public var findings: [(name: String, value: String)] {
        guard let mesh, let flood else { return [] }
        let drops = mesh.nodes[box].drops
        let refused = drops.all.filter { $0.count > 0 }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
            .map { "\($0.name) \(Summary.grouped($0.count))" }
        let seconds = max(1, Int((setting.span - FloodScenario.warmUp).seconds))
        let shares = Mail.allCases.map { mail -> (name: String, value: String) in
            let count = share(of: mail)
            let percent = count.sent == 0 ? 0 : 100 * count.arrived / count.sent
            return ("\(mail.name) mail", "\(count.arrived) of \(count.sent) got through (\(percent) %), in time")
        }
        return [
            (
                "flood",
                "\(tactic.rawValue), \(Summary.grouped(UInt64(flood.frames))) frames "
                    + "of \(FloodScenario.senders) senders, \(flood.frames / seconds) a second, "
                    + "\(flood.bytes / seconds) bytes a second"
            ),
            ("refused by the box", refused.joined(separator: ", ")),
        ] + shares
    }

    public func place(of node: Int) -> Place? { Place(x: Double(node) * 15, y: 0) }

    public var decor: Decor {
        var decor = Decor()
        decor.boxes[box] = "gate"
        decor.landmarks = [
            Decor.Landmark(name: "flood", place: Place(x: -12, y: -8), nodes: [box], isHostile: true),
            Decor.Landmark(name: "olga", place: Place(x: -12, y: 8), nodes: [box]),
            Decor.Landmark(
                name: "otto", place: Place(x: Double(last) * 15 + 8, y: 10), nodes: [last]),
        ]
        return decor
    }
}
