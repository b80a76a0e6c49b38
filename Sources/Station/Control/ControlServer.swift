import Basics
import EventLoop

/// What the control socket counts.
public enum ControlEvent: String, CaseIterable, Sendable {
    case request
    case malformedRequest
    case unknownCommand
    case overlongRequest
    case clientRefused
    case clientIdle
    case clientNotReading
}

/// One command of the control socket.
public struct ControlCommand {
    public let name: String
    let answer: (ControlRequest) -> ControlAnswer

    /// The answer carries what `body` returns under the command's name.
    public init(_ name: String, _ body: @escaping () -> some JSONConvertible) {
        self.name = name
        answer = { _ in .done(body().json, name: name) }
    }

    /// As above; what `body` throws is the refusal.
    init(_ name: String, _ body: @escaping (ControlRequest) throws(ControlError) -> some JSONConvertible) {
        self.name = name
        answer = { request in
            do throws(ControlError) {
                return .done(try body(request).json, name: name)
            } catch {
                return .refused(error)
            }
        }
    }
}

/// Listens on the control socket and answers requests from a table of commands.
public final class ControlServer {
    private let loop: any EventLoop
    private let commands: [ControlCommand]
    private let otherwise: ControlError?
    private let idle: Interval
    private let socketFile: SocketFile
    private var listener: SocketListener?
    private var clients: [ObjectIdentifier: ControlClientConnection] = [:]
    public private(set) var tally = Tally<ControlEvent>()

    /// Opens the socket. A file left behind by a daemon that is gone is replaced; a daemon that answers is not.
    /// - Parameters:
    ///   - otherwise: the answer to every other command; by default that there is no such.
    ///   - idle: how long a client may take to complete a request; by default 30 s.
    public init(
        path: String, loop: any EventLoop, commands: [ControlCommand], otherwise: ControlError? = nil,
        idle: Interval? = nil
    ) throws(StationFault) {
        self.loop = loop
        self.commands = commands
        self.otherwise = otherwise
        self.idle = idle ?? ControlLimits.idle
        socketFile = try SocketFile(path)
    }

    public func start() {
        listener = SocketListener(loop: loop, socket: socketFile.descriptor) { [weak self] in self?.accepted($0) }
    }

    /// Drops every client and removes the socket file.
    public func stop() {
        listener?.close()
        listener = nil
        for client in clients.values { client.close() }
        clients.removeAll()
        socketFile.remove()
    }

    private func accepted(_ connection: FileDescriptor) {
        guard clients.count < ControlLimits.clients else {
            tally.count(.clientRefused)
            let refusal = ControlError(
                code: ControlError.busy, message: "\(ControlLimits.clients) clients are connected already")
            _ = ControlAnswer.refused(refusal).line.withUnsafeBytes { connection.send($0) }
            return connection.close()
        }
        let client = ControlClientConnection(connection, loop: loop, idle: idle)
        clients[ObjectIdentifier(client)] = client
        client.onLine = { [weak self] in self?.answer($0).line ?? [] }
        client.onEnd = { [weak self, unowned client] reason in
            if let reason { self?.tally.count(reason) }
            self?.clients[ObjectIdentifier(client)] = nil
        }
        client.start()
    }

    private func answer(_ line: [UInt8]) -> ControlAnswer {
        tally.count(.request)
        do {
            let request = try ControlRequest(line)
            if let command = commands.first(where: { $0.name == request.command }) {
                return command.answer(request)
            }
            if let otherwise { return .refused(otherwise) }
            tally.count(.unknownCommand)
            let known = commands.map(\.name).sorted().joined(separator: ", ")
            return .refused(ControlError(code: "unknown_command", message: "there is no such command; known: \(known)"))
        } catch {
            tally.count(.malformedRequest)
            return .refused(error)
        }
    }
}
