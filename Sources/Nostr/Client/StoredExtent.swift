/// How far back what relays sent of a subscription's stored events goes. What was refused on its way counts too, since
/// a relay that sent as much as it was asked for may have more, whatever became of it here. Nothing of it is proven.
public struct StoredExtent: Hashable, Sendable {
    /// When the oldest event was made, in Unix seconds, of those relays that sent as many as were asked for or have not
    /// come to an end; of several relays the newest, since of each nothing is missing down to its own.
    public private(set) var full: Int64?
    /// The same of relays that sent fewer, but any.
    public private(set) var part: Int64?

    public init() {}

    /// One relay's answer.
    /// - Parameters:
    ///   - times: when its events were made, in Unix seconds.
    ///   - limit: as many as were asked for; nil for all.
    public init(of times: [Int64], limit: Int?) {
        var answer = StoredAnswer(limit: limit)
        for time in times { answer.count(time) }
        add(answer)
    }

    /// Down to where nothing is known to be missing; nil where relays sent nothing.
    public var oldest: Int64? { full ?? part }

    /// - Parameter isOver: its relay has said so.
    mutating func add(_ answer: StoredAnswer, isOver: Bool = true) {
        guard let oldest = answer.oldest else { return }
        if answer.isFull || !isOver {
            full = max(full ?? oldest, oldest)
        } else {
            part = max(part ?? oldest, oldest)
        }
    }
}

/// What one relay has sent of one subscription's stored events so far.
struct StoredAnswer {
    /// As asked for.
    let limit: Int?
    private(set) var oldest: Int64?
    private var count = 0

    init(limit: Int?) { self.limit = limit }

    var isFull: Bool { limit.map { count >= $0 } ?? false }

    /// - Parameter time: when the event was made; nil where that cannot be told.
    mutating func count(_ time: Int64?) {
        if count < Int.max { count += 1 }
        if let time { oldest = min(oldest ?? time, time) }
    }
}
