import Cbluetooth
import EventLoop
import Glibc

/// The socket of the kernel's Bluetooth management channel.
public enum ManagementSocket {
    /// A new socket, non-blocking and close-on-exec. Anybody may open one; without CAP_NET_ADMIN it only reads.
    public static func open() -> Result<FileDescriptor, SystemError> {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let raw = socket(AF_BLUETOOTH, type, BTPROTO_HCI)
        guard raw >= 0 else { return .failure(.last("socket", subject: "Bluetooth management")) }
        let socket = FileDescriptor(owning: raw)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = UInt16(HCI_DEV_NONE)
        address.hci_channel = UInt16(HCI_CHANNEL_CONTROL)
        let bound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.raw, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard bound == 0 else { return .failure(.last("bind", subject: "Bluetooth management")) }
        return .success(socket)
    }
}
