import Basics
import EventLoop
import Glibc

@testable import Radio

/// The kernel's end of a management channel: a pair of message sockets, read and answered by the test.
final class FakeKernel {
    private(set) var ours: FileDescriptor?
    /// Everything written so far, oldest first.
    private(set) var commands: [(code: UInt16, index: UInt16, parameters: [UInt8])] = []
    /// How often the socket was opened.
    private(set) var openings = 0
    /// Fails the next openings with this error.
    var refusal: Int32?

    /// Makes a new pair and hands out the program's end.
    func open() -> Result<FileDescriptor, SystemError> {
        openings += 1
        if let refusal { return .failure(SystemError("socket", code: refusal)) }
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return .failure(.last("socketpair")) }
        ours = FileDescriptor(owning: ends[0])
        return .success(FileDescriptor(owning: ends[1]))
    }

    func close() {
        ours?.close()
        ours = nil
    }

    /// Reads what the program wrote since.
    @discardableResult
    func receive() -> [UInt16] {
        var codes: [UInt16] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while let ours, ours.isOpen,
            case .length(let length) = buffer.withUnsafeMutableBytes({ ours.receiveMessage(into: $0) })
        {
            let number = { (at: Int) in UInt16(buffer[at]) | UInt16(buffer[at + 1]) << 8 }
            commands.append((number(0), number(2), Array(buffer[6..<length])))
            codes.append(number(0))
        }
        return codes
    }

    func say(_ event: UInt16, _ index: UInt16, _ parameters: [UInt8]) {
        var message: [UInt8] = []
        message.append(littleEndian: event)
        message.append(littleEndian: index)
        message.append(littleEndian: UInt16(parameters.count))
        sayRaw(message + parameters)
    }

    func sayRaw(_ message: [UInt8]) { _ = message.withUnsafeBytes { ours?.send($0) } }

    func complete(_ command: UInt16, _ index: UInt16, _ parameters: [UInt8] = []) {
        say(1, index, [UInt8(command & 0xff), UInt8(command >> 8), 0] + parameters)
    }

    func refuse(_ command: UInt16, _ index: UInt16, _ status: ManagementStatus) {
        say(2, index, [UInt8(command & 0xff), UInt8(command >> 8), status.rawValue])
    }
}
