import Basics
import EventLoop

@testable import Panel

/// A line whose level the test sets and watches. Changes are told when they are asked for.
final class ScriptedLine: PanelLine {
    var level: Bool? = false {
        didSet {
            guard let level, level != oldValue, !isDeaf else { return }
            pending.append(LineEdge(isActive: level, at: loop.now.monotonic))
        }
    }
    /// Changes that are not taken yet.
    var pending: [LineEdge] = []
    /// Its changes are not told.
    var isDeaf = false
    var changes: [(at: Int64, Bool)] = []
    let loop: any EventLoop
    private let start: Instant
    init(_ loop: any EventLoop) {
        self.loop = loop
        start = loop.now.monotonic
    }

    var isActive: Bool? { level }
    func set(_ isActive: Bool) -> Bool {
        guard level != nil else { return false }
        level = isActive
        changes.append(((loop.now.monotonic - start).milliseconds, isActive))
        return true
    }
    var edges: Int32? { nil }
    func takeEdges() -> [LineEdge]? {
        defer { pending.removeAll() }
        return level == nil ? nil : pending
    }
}
