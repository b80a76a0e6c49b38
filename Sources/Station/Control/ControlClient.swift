import EventLoop
import Glibc

/// The operator's side of the control socket: blocking, one request at a time.
public struct ControlClient {
    private let path: String
    /// Milliseconds to wait for an answer.
    private static let patience: Int32 = 5_000
    private static let answerLimit = ControlLimits.answerSize

    public init(path: String) { self.path = path }

    /// Sends a command and returns its answer as it came; a refusal is thrown.
    public func line(_ command: String) throws(ControlClientError) -> String {
        let line = try exchange(ControlRequest(command: command))
        _ = try body(of: line, command)
        return String(decoding: line, as: UTF8.self)
    }

    /// Sends a command and returns the member of the answer that is named like it.
    public func ask<Body: JSONConvertible>(
        _ command: String, for type: Body.Type, confirmation: String? = nil, argument: String? = nil
    ) throws(ControlClientError) -> Body {
        let request = ControlRequest(command: command, confirmation: confirmation, argument: argument)
        let json = try body(of: try exchange(request), command)
        do {
            return try Body(json: json)
        } catch {
            throw .notUnderstood
        }
    }

    private func body(of line: [UInt8], _ command: String) throws(ControlClientError) -> JSONValue {
        switch ControlAnswer(line, to: command) {
        case .done(let body, _): return body
        case .refused(let error): throw .refused(error)
        case nil: throw .notUnderstood
        }
    }

    /// Sends a command and returns the answer line without its newline.
    private func exchange(_ request: ControlRequest) throws(ControlClientError) -> [UInt8] {
        let connection: FileDescriptor
        do {
            connection = try UnixSocket.connect(.stream, to: path)
        } catch {
            throw error.code == EACCES ? .forbidden(path) : .nobodyAnswers(path)
        }
        let request = request.line
        guard request.withUnsafeBytes({ connection.send($0) }) == .bytes(request.count) else {
            throw .nobodyAnswers(path)
        }
        return try line(from: connection)
    }

    private func line(from connection: FileDescriptor) throws(ControlClientError) -> [UInt8] {
        var answer: [UInt8] = []
        while answer.count < ControlClient.answerLimit {
            var wait = pollfd(fd: connection.raw, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, ControlClient.patience) > 0 else { throw .silent(path) }
            let result = withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
                let result = connection.read(into: buffer)
                if case .bytes(let count) = result { answer += buffer[..<count] }
                return result
            }
            switch result {
            case .bytes, .wouldBlock: break
            case .end, .failed: throw .silent(path)
            }
            if let newline = answer.firstIndex(of: 0x0a) { return Array(answer[..<newline]) }
        }
        throw .notUnderstood
    }
}

public enum ControlClientError: Error, Equatable, CustomStringConvertible {
    case nobodyAnswers(String)
    case forbidden(String)
    case silent(String)
    case refused(ControlError)
    case notUnderstood

    public var description: String {
        switch self {
        case .nobodyAnswers(let path): "no daemon answers at \(path): start bitgated, or pass --socket PATH"
        case .forbidden(let path): "no permission to use \(path): join the group bitgate, or use sudo"
        case .silent(let path): "the daemon at \(path) gave no answer"
        case .refused(let error): "the daemon refused: \(error.message)"
        case .notUnderstood: "the daemon's answer was not understood: is it another version?"
        }
    }

    public var exitStatus: Int32 {
        switch self {
        case .nobodyAnswers, .silent: ExitStatus.unavailable
        case .forbidden: ExitStatus.noPermission
        case .refused(let error) where error.code == ControlError.busy: ExitStatus.tryLater
        case .refused(let error) where error.code == ControlError.malformed: ExitStatus.usage
        case .refused, .notUnderstood: ExitStatus.protocolError
        }
    }
}
