import Basics
import EventLoop
import Glibc

/// Takes everything off the air that any process has put on the controllers that are ours, without a radio or a loop.
/// Advertising instances belong to the kernel, so they outlive a process that was killed (chapter 06 §11.5 C).
public enum RadioSilence {
    fileprivate enum Limits {
        /// Messages read while one answer is waited for: a busy controller reports between.
        static let messages = 1_024
        /// Milliseconds the kernel may take for what it answers out of its memory.
        static let answer: Int32 = 200
    }

    /// Orders every controller that is on to be silent, and looks which are not yet: their numbers. A controller takes
    /// its time to switch off, and refuses while it is being set up; so this is called until there are none.
    /// - Parameters:
    ///   - choices: which controllers are ours; none means all.
    ///   - wait: lets the kernel answer.
    /// - Throws: when the kernel does not list its controllers. Where it has no Bluetooth, or this process may not
    ///   command it, there is nothing of ours on the air.
    public static func impose(
        on choices: [AdapterChoice], open: () -> Result<FileDescriptor, SystemError> = ManagementSocket.open,
        wait: @escaping (FileDescriptor) -> Void = pollOnce
    ) throws(SystemError) -> [UInt16] {
        let channel: Conversation
        switch open() {
        case .success(let socket): channel = Conversation(socket, wait: wait)
        case .failure(let error):
            if [EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES].contains(error.code) { return [] }
            throw error
        }
        guard let list = channel.answer(to: .readIndexList).flatMap({ ControllerList(parsing: $0) }) else {
            throw SystemError("recv", code: ETIMEDOUT, subject: "Bluetooth management")
        }
        return list.indexes.filter { index in
            // One that vanishes meanwhile is silent.
            guard let controller = channel.information(index), isOurs(index, controller, choices),
                controller.current.contains(.powered)
            else { return false }
            // The instances first: some controllers take them up again when they come on.
            for command in [ManagementCommand.removeAdvertising(0), .stopDiscovery, .setPowered(false)] {
                channel.send(command, to: index)
            }
            return channel.information(index)?.current.contains(.powered) ?? false && !channel.forbidden.contains(index)
        }
    }

    public static func pollOnce(_ socket: FileDescriptor) {
        var state = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
        _ = poll(&state, 1, Limits.answer)
    }

    private static func isOurs(
        _ index: UInt16, _ controller: ControllerInformation, _ choices: [AdapterChoice]
    ) -> Bool {
        choices.isEmpty || choices.contains(.index(index))
            || controller.address.map { choices.contains(.address($0)) } ?? false
    }
}

/// One socket of the management channel, asked for what the kernel knows by heart.
private final class Conversation {
    private let socket: FileDescriptor
    private let wait: (FileDescriptor) -> Void
    private var buffer = [UInt8](repeating: 0, count: ManagementLimits.longestEvent)
    /// Controllers this process may not command.
    private(set) var forbidden: Set<UInt16> = []

    init(_ socket: FileDescriptor, wait: @escaping (FileDescriptor) -> Void) {
        self.socket = socket
        self.wait = wait
    }

    func information(_ index: UInt16) -> ControllerInformation? {
        answer(to: .readInformation, of: index).flatMap { ControllerInformation(parsing: $0) }
    }

    @discardableResult
    func send(_ command: ManagementCommand, to index: UInt16) -> Bool {
        let message = command.message(to: index)
        return message.withUnsafeBytes { socket.send($0) } == .bytes(message.count)
    }

    /// The parameters of a successful answer.
    func answer(
        to command: ManagementCommand, of index: UInt16 = ManagementCommand.noController
    ) -> [UInt8]? {
        guard send(command, to: index) else { return nil }
        var hasWaited = false
        for _ in 0..<RadioSilence.Limits.messages {
            switch buffer.withUnsafeMutableBytes({ socket.receiveMessage(into: $0) }) {
            case .length(let length) where length <= buffer.count:
                let parsed = buffer.withUnsafeBytes {
                    ManagementEvent.parse(UnsafeRawBufferPointer(rebasing: $0[..<length]))
                }
                guard case .event(.answer(let code, let status, let parameters), let from) = parsed else { continue }
                if status == .permissionDenied { forbidden.insert(from) }
                if code == command.code, from == index { return status == .success ? parameters : nil }
            case .length, .empty: continue
            case .wouldBlock:
                guard !hasWaited else { return nil }
                hasWaited = true
                wait(socket)
            case .end, .failed: return nil
            }
        }
        return nil
    }
}
