import Basics
import EventLoop
import Wire

/// A link between two radios of an `InProcessAir`.
final class InProcessConnection {
    /// One radio's side of the link.
    final class End {
        let id: LinkID
        let role: LinkRole
        private(set) weak var port: InProcessPort?
        let frameLimit: Int
        fileprivate(set) weak var connection: InProcessConnection?
        fileprivate weak var other: End?
        fileprivate var since: Instant?
        private var lastReceived: Instant?
        private var lastSent: Instant?
        private let loop: any EventLoop
        /// What is underway to this end.
        private var incoming: ImpairedLine?

        fileprivate init(id: LinkID, role: LinkRole, port: InProcessPort, frameLimit: Int, loop: any EventLoop) {
            self.id = id
            self.role = role
            self.port = port
            self.frameLimit = frameLimit
            self.loop = loop
            incoming = ImpairedLine(loop: loop, impairment: port.impairment, stream: id.value) { [weak self] in
                self?.deliver($0)
            }
        }

        func send(_ frame: [UInt8]) {
            guard since != nil, let other else { return }
            guard (1...frameLimit).contains(frame.count) else {
                port?.drops.count(.frameTooLong)
                return
            }
            guard other.underway + frame.count <= RadioLimits.queueBytes else {
                port?.drops.count(.queueOverflow)
                return
            }
            lastSent = loop.now.monotonic
            other.offer(frame)
        }

        var snapshot: RadioLinkSnapshot? {
            guard let since, let remote = other?.port else { return nil }
            return RadioLinkSnapshot(
                link: id, role: role, remoteName: remote.name, frameLimit: frameLimit, since: since,
                lastReceived: lastReceived, lastSent: lastSent, queuedFrames: 0, queuedBytes: other?.underway ?? 0)
        }

        private var underway: Int { incoming?.bytes ?? 0 }

        private func offer(_ frame: [UInt8]) {
            if frame.withUnsafeBytes({ incoming?.offer($0) }) == .lost { port?.drops.count(.impairedLoss) }
        }

        private func deliver(_ frame: UnsafeRawBufferPointer) {
            lastReceived = loop.now.monotonic
            port?.delegate?.linkReceived(frame, on: id)
        }

        fileprivate func up() {
            since = loop.now.monotonic
            port?.delegate?.linkUp(id, role: role, frameLimit: frameLimit, neighbour: nil)
        }

        /// - Returns: whether the radio has to be told.
        fileprivate func down() -> Bool {
            incoming?.clear()
            incoming = nil
            port?.ends[id] = nil
            defer { since = nil }
            return since != nil
        }
    }

    private let central: End
    private let peripheral: End
    private let loop: any EventLoop
    private var isOpen = true

    init(
        central: InProcessPort, peripheral: InProcessPort, ids: (LinkID, LinkID), frameLimit: Int, loop: any EventLoop
    ) {
        self.loop = loop
        self.central = End(id: ids.0, role: .outgoing, port: central, frameLimit: frameLimit, loop: loop)
        self.peripheral = End(id: ids.1, role: .incoming, port: peripheral, frameLimit: frameLimit, loop: loop)
        for (end, other) in [(self.central, self.peripheral), (self.peripheral, self.central)] {
            end.connection = self
            end.other = other
        }
    }

    func open() {
        for end in [central, peripheral] { end.port?.ends[end.id] = end }
        loop.enqueue { [weak self] in
            // The accepting side knows first, as on the air; it may already close the link.
            for end in [self?.peripheral, self?.central] where self?.isOpen == true { end?.up() }
        }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        for end in [central, peripheral] where end.down() {
            loop.enqueue { [weak port = end.port, id = end.id] in
                if port?.isRunning == true { port?.delegate?.linkDown(id) }
            }
        }
    }
}
