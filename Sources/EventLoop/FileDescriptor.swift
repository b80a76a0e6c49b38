import Glibc

/// Owns an open descriptor and closes it when the last reference goes. Cancel every watch on it before that.
public final class FileDescriptor {
    /// The number to hand to a system call; −1 once closed.
    public private(set) var raw: Int32

    /// Takes over `raw`: nobody else may close it.
    public init(owning raw: Int32) { self.raw = raw }

    deinit { close() }

    public var isOpen: Bool { raw >= 0 }

    /// Closes now. Closing twice does nothing.
    public func close() {
        guard raw >= 0 else { return }
        _ = Glibc.close(raw)
        raw = -1
    }

    public enum Transfer: Equatable {
        /// This many bytes moved, at least one.
        case bytes(Int)
        /// Nothing can move now; wait for readiness.
        case wouldBlock
        /// The other side has finished sending.
        case end
        case failed(SystemError)
    }

    /// Reads at most `buffer.count` bytes of a byte stream.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        transfer("read") { Glibc.read(raw, buffer.baseAddress, buffer.count) }
    }

    /// Writes at most `bytes.count` bytes. Works on anything; a socket whose peer is gone may raise SIGPIPE, for which
    /// `send` exists.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        transfer("write") { Glibc.write(raw, bytes.baseAddress, bytes.count) }
    }

    /// Sends on a socket without raising SIGPIPE. On a SEQPACKET socket the message goes whole or not at all.
    public func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        transfer("send") { Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    public enum Message: Equatable {
        /// A whole message of this length. Longer than the buffer means that its end was cut off.
        case length(Int)
        /// A message of no bytes.
        case empty
        case wouldBlock
        /// The other side has closed.
        case end
        case failed(SystemError)
    }

    /// Takes the next message of a SEQPACKET socket.
    public func receiveMessage(into buffer: UnsafeMutableRawBufferPointer) -> Message {
        switch transfer("recv", { recv(raw, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC)) }) {
        case .bytes(let length): return .length(length)
        case .wouldBlock: return .wouldBlock
        case .failed(let error): return .failed(error)
        case .end:
            // An empty message and the end look alike; only the end comes with a hang-up.
            let hangUp = Int16(POLLHUP) | FileDescriptor.peerFinished
            var state = pollfd(fd: raw, events: FileDescriptor.peerFinished, revents: 0)
            return poll(&state, 1, 0) == 1 && state.revents & hangUp != 0 ? .end : .empty
        }
    }

    /// POLLRDHUP, which the system headers show only to GNU programs.
    private static let peerFinished: Int16 = 0x2000

    private func transfer(_ call: String, _ body: () -> Int) -> Transfer {
        while true {
            let count = body()
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .failed(.last(call))
            }
        }
    }

    /// Takes the next connection of a listening socket, non-blocking and close-on-exec; `nil` when none is waiting.
    public func accept() throws(SystemError) -> FileDescriptor? {
        while true {
            let connection = Glibc.accept(raw, nil, nil)
            if connection >= 0 {
                let accepted = FileDescriptor(owning: connection)
                guard fcntl(connection, F_SETFD, FD_CLOEXEC) == 0, fcntl(connection, F_SETFL, O_NONBLOCK) == 0 else {
                    throw .last("fcntl")
                }
                return accepted
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN, EWOULDBLOCK: return nil
            default: throw .last("accept")
            }
        }
    }

    /// The pending error of a socket, cleared by reading it; `nil` when there is none.
    public func takeSocketError() -> SystemError? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return .last("getsockopt") }
        return code == 0 ? nil : SystemError("connect", code: code)
    }

    /// Asks for a send buffer of about `bytes`; the kernel doubles the value and has a floor of its own.
    public func setSendBuffer(_ bytes: Int32) throws(SystemError) {
        var value = bytes
        guard setsockopt(raw, SOL_SOCKET, SO_SNDBUF, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw .last("setsockopt")
        }
    }
}

enum SocketFlags {
    /// Every socket here is non-blocking and not inherited by child processes.
    static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
}
