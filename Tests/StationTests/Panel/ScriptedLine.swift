import Basics
import EventLoop
import Foundation
import Panel

/// A line whose level the test sets and watches; changes are told through a real descriptor.
final class ScriptedLine: PanelLine {
    var level = false {
        didSet {
            changes.append(LineEdge(isActive: level, at: loop.now.monotonic))
            pulse.fileHandleForWriting.write(Data([1]))
        }
    }
    private var changes: [LineEdge] = []
    private let pulse = Pipe()
    private let loop: EmbeddedLoop
    init(_ loop: EmbeddedLoop) { self.loop = loop }

    var isActive: Bool? { level }
    func set(_ isActive: Bool) -> Bool {
        level = isActive
        return true
    }
    var edges: Int32? { pulse.fileHandleForReading.fileDescriptor }
    func takeEdges() -> [LineEdge]? {
        guard !changes.isEmpty else { return [] }
        defer { changes.removeAll() }
        return pulse.fileHandleForReading.availableData.isEmpty ? nil : changes
    }
}
