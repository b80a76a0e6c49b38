import Basics

/// Accepts connections on a listening socket, non-blocking, until cancelled or released.
public final class SocketListener {
    private let loop: any EventLoop
    private let socket: FileDescriptor
    private let onConnection: (FileDescriptor) -> Void
    private var watch: (any Cancellable)?
    private var pause: (any Cancellable)?

    /// Connections taken in one turn, so that a flood of them cannot hold up the loop.
    private static let batch = 16
    /// Rest after running out of descriptors: the waiting connection stays readable and would spin the loop.
    private static let rest = Interval.seconds(1)

    public init(
        loop: any EventLoop, socket: FileDescriptor, onConnection: @escaping (FileDescriptor) -> Void
    ) {
        self.loop = loop
        self.socket = socket
        self.onConnection = onConnection
        listen()
    }

    deinit { close() }

    /// Stops accepting and closes the socket.
    public func close() {
        watch?.cancel()
        pause?.cancel()
        watch = nil
        pause = nil
        socket.close()
    }

    private func listen() {
        watch = loop.watch(socket.raw, .read) { [weak self] _ in self?.acceptWaiting() }
    }

    private func acceptWaiting() {
        for _ in 0..<SocketListener.batch {
            guard socket.isOpen else { return }
            do {
                guard let connection = try socket.accept() else { return }
                onConnection(connection)
            } catch {
                watch?.cancel()
                watch = nil
                pause = loop.schedule(after: SocketListener.rest) { [weak self] in self?.listen() }
                return
            }
        }
    }
}
