/// What may be done by the time, as of one moment.
struct ClockStanding: Equatable {
    var offset: ClockOffset
    var source: ClockSource
    /// Own packets may be dated and ages judged.
    var isGoodForMesh: Bool

    init(offset: ClockOffset, source: ClockSource, isGoodForMesh: Bool) {
        self.offset = offset
        self.source = source
        self.isGoodForMesh = isGoodForMesh
    }

    init(_ clock: MeshClock) {
        self.init(offset: clock.offset, source: clock.source, isGoodForMesh: clock.isGoodForMesh)
    }
}

/// One thing to do when the time, or what is known of it, has changed.
enum ClockStep: Equatable, Sendable {
    /// Nothing is published or asked of relays, and what waits to be is gone.
    case closeRelays
    /// No gateway or bridge bit, nothing queued.
    case withdrawGateway
    /// Nothing of our own goes on the air.
    case silenceMesh
    case shift(to: ClockOffset)
    /// Connections are as safe as the time is right: relays can be asked what time it is.
    case askRelays
    case wakeMesh
    case openRelays
    case offerGateway

    /// The order in which one standing follows another. What dates is laid down before the clock moves and taken up
    /// after it, relays first and last; only a withdrawal that is still dated rightly goes out on the air.
    static func steps(from old: ClockStanding, to new: ClockStanding) -> [ClockStep] {
        let jumps = abs(new.offset - old.offset) > ClockLimits.step
        func stays(_ does: (ClockStanding) -> Bool) -> Bool { does(new) && !jumps }
        var steps: [ClockStep] = []
        let published = old.source.isTrusted
        let spoke = old.isGoodForMesh
        if published, !stays({ $0.source.isTrusted }) { steps.append(.closeRelays) }
        let silences = spoke && !stays { $0.isGoodForMesh }
        if silences, jumps { steps.append(.silenceMesh) }
        if published, !stays({ $0.source.isTrusted }) { steps.append(.withdrawGateway) }
        if silences, !jumps { steps.append(.silenceMesh) }
        if new.offset != old.offset { steps.append(.shift(to: new.offset)) }
        if new.source.isProven, !old.source.isProven { steps.append(.askRelays) }
        if new.isGoodForMesh, silences || !spoke { steps.append(.wakeMesh) }
        if new.source.isTrusted, !published || jumps { steps += [.openRelays, .offerGateway] }
        return steps
    }
}
