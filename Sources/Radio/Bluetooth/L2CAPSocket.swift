import Cbluetooth
import EventLoop
import Glibc

/// An L2CAP socket on the ATT fixed channel. Always non-blocking: a blocking receive on a Bluetooth socket stops the
/// whole controller on some kernels.
final class L2CAPSocket: AttributeSocket {
    fileprivate let descriptor: FileDescriptor
    private let loop: any EventLoop

    init(_ descriptor: FileDescriptor, loop: any EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    func send(_ pdu: UnsafeRawBufferPointer) -> FileDescriptor.Transfer { descriptor.send(pdu) }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> FileDescriptor.Message {
        descriptor.receiveMessage(into: buffer)
    }

    func watch(_ interest: IOInterest, _ action: @escaping () -> Void) -> any Cancellable {
        loop.watch(descriptor.raw, interest) { _ in action() }
    }

    func takeError() -> SystemError? { descriptor.takeSocketError() }

    func setSendBuffer(_ bytes: Int32) {
        // A refused option only makes priorities decide earlier.
        try? descriptor.setSendBuffer(bytes)
    }

    func close() { descriptor.close() }
}

/// The kernel's L2CAP sockets, without a Bluetooth daemon: no privilege is needed for the ATT channel (chapter 03
/// A13.2).
final class L2CAPSocketPort: AttributeSocketPort {
    private let loop: any EventLoop

    /// Connections that may wait to be taken, more than a controller holds.
    private static let backlog: Int32 = 16

    init(loop: any EventLoop) { self.loop = loop }

    func listen(
        at own: BluetoothAddress, onConnection: @escaping (any AttributeSocket, BluetoothAddress) -> Void
    ) throws(SystemError) -> any AttributeListener {
        let socket = try makeBound(to: own)
        guard Glibc.listen(socket.raw, L2CAPSocketPort.backlog) == 0 else { throw .last("listen") }
        return L2CAPListener(
            SocketListener(loop: loop, socket: socket) { [loop] connection in
                // One that has ended meanwhile has no peer any more.
                guard let remote = L2CAPSocketPort.peer(of: connection) else { return }
                onConnection(L2CAPSocket(connection, loop: loop), remote)
            })
    }

    func connect(
        from own: BluetoothAddress, to remote: BluetoothAddress
    ) throws(SystemError) -> any AttributeSocket {
        let socket = try makeBound(to: own)
        let status = L2CAPSocketPort.withAddress(remote) { Glibc.connect(socket.raw, $0, $1) }
        guard status == 0 || errno == EINPROGRESS else { throw .last("connect") }
        return L2CAPSocket(socket, loop: loop)
    }

    /// Bound to an own address, which chooses the controller and the channel.
    private func makeBound(to own: BluetoothAddress) throws(SystemError) -> FileDescriptor {
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let raw = Glibc.socket(AF_BLUETOOTH, type, BTPROTO_L2CAP)
        guard raw >= 0 else { throw .last("socket") }
        let socket = FileDescriptor(owning: raw)
        guard L2CAPSocketPort.withAddress(own, { Glibc.bind(raw, $0, $1) }) == 0 else { throw .last("bind") }
        // Anything above low makes the kernel start pairing, and phones show a dialog.
        var security = bt_security(level: UInt8(BT_SECURITY_LOW), key_size: 0)
        guard
            setsockopt(raw, SOL_BLUETOOTH, BT_SECURITY, &security, socklen_t(MemoryLayout<bt_security>.size)) == 0
        else { throw .last("setsockopt") }
        return socket
    }

    private static func peer(of socket: FileDescriptor) -> BluetoothAddress? {
        var address = sockaddr_l2()
        var size = socklen_t(MemoryLayout<sockaddr_l2>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket.raw, $0, &size) }
        }
        guard status == 0, let kind = BluetoothAddress.Kind(rawValue: address.l2_bdaddr_type) else { return nil }
        let value = withUnsafeBytes(of: address.l2_bdaddr) { bytes in
            bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        return BluetoothAddress(value: value, kind: kind)
    }

    private static func withAddress(
        _ address: BluetoothAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var socketAddress = sockaddr_l2()
        socketAddress.l2_family = sa_family_t(AF_BLUETOOTH)
        socketAddress.l2_cid = UInt16(attributeChannel).littleEndian
        socketAddress.l2_bdaddr_type = address.kind.rawValue
        withUnsafeMutableBytes(of: &socketAddress.l2_bdaddr) { bytes in
            for index in bytes.indices {
                bytes[index] = UInt8(truncatingIfNeeded: address.value >> (8 * UInt64(index)))
            }
        }
        return withUnsafePointer(to: socketAddress) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_l2>.size))
            }
        }
    }

    /// The fixed channel of the attribute protocol, the only one user space may bind on LE.
    private static let attributeChannel = 4
}

private final class L2CAPListener: AttributeListener {
    private let listener: SocketListener

    init(_ listener: SocketListener) { self.listener = listener }

    func close() { listener.close() }
}
