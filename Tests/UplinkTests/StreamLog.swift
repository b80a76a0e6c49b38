import Basics
import EventLoop
import XCTest

@testable import Uplink

/// The user of a stream: reads what comes, writes what it is given, notes what happened.
final class StreamLog: ByteStreamDelegate {
    enum Event: Equatable {
        case opened
        case failed(StreamFailure)
        case end
        case broken(StreamFailure)
    }

    private(set) var events: [Event] = []
    private(set) var received: [UInt8] = []
    var toSend: [UInt8] = []
    /// Most bytes taken in one call, and in one turn.
    var readGrain = 16_384
    /// Bytes taken in the turn that took most.
    private(set) var busiestTurn = 0
    var onEvent: (Event) -> Void = { _ in }
    weak var stream: (any ByteStream)?

    init(_ stream: any ByteStream) {
        self.stream = stream
        stream.delegate = self
    }

    func streamOpened() {
        note(.opened)
        stream?.interest = toSend.isEmpty ? .read : [.read, .write]
    }

    func streamFailed(_ failure: StreamFailure) { note(.failed(failure)) }

    func streamReady(_ ready: IOInterest) {
        if ready.contains(.write) { writeAll() }
        if ready.contains(.read) { readAll() }
    }

    private func writeAll() {
        while !toSend.isEmpty, let stream {
            switch toSend.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): toSend.removeFirst(count)
            case .wouldBlock: return
            case .end: return stop(.end)
            case .failed(let failure): return stop(.broken(failure))
            }
        }
        stream?.interest.remove(.write)
    }

    private func readAll() {
        var taken = 0
        var buffer = [UInt8](repeating: 0, count: readGrain)
        defer { busiestTurn = max(busiestTurn, taken) }
        while let stream {
            switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
            case .bytes(let count):
                taken += count
                received += buffer.prefix(count)
            case .wouldBlock: return
            case .end: return stop(.end)
            case .failed(let failure): return stop(.broken(failure))
            }
        }
    }

    private func stop(_ event: Event) {
        stream?.interest = []
        note(event)
    }

    private func note(_ event: Event) {
        events.append(event)
        onEvent(event)
    }
}
