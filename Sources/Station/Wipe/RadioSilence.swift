import EventLoop
import Radio

/// Silence on the air that needs no radio of ours: an advertisement belongs to the kernel and outlives the process that
/// began it, so that after a kill the box would be found and connected to by the name it had (chapter 06 §11.1).
enum RadioSilence {
    private enum Limits {
        /// The kernel's own is 16 of a kind, and boards have one or two. Ours.
        static let controllers = 64
    }

    static func impose(_ radio: Configuration.Radio) {
        guard radio.kind == .bluetooth else { return }
        impose(on: controllers(of: radio.adapters, among: present))
    }

    /// - Parameter open: makes the socket of the management channel. Where there is none, there is no Bluetooth.
    static func impose(
        on controllers: [UInt16], open: () -> Result<FileDescriptor, SystemError> = ManagementSocket.open
    ) {
        guard !controllers.isEmpty, case .success(let socket) = open() else { return }
        for controller in controllers {
            // Switched off it ends links and all the rest; the first two are for one that cannot be.
            for command: ManagementCommand in [.removeAdvertising(0), .stopDiscovery, .setPowered(false)] {
                _ = command.message(to: controller).withUnsafeBytes { socket.send($0) }
            }
        }
        socket.close()
    }

    /// By their numbers. One that is named by its address may be any.
    static func controllers(of adapters: [AdapterChoice], among present: [UInt16]) -> [UInt16] {
        var named: [UInt16] = []
        for adapter in adapters {
            guard case .index(let index) = adapter else { return present }
            named.append(index)
        }
        return adapters.isEmpty ? present : present.filter(named.contains)
    }

    private static var present: [UInt16] {
        SystemFiles.names(in: "/sys/class/bluetooth", atMost: Limits.controllers)
            .compactMap { $0.hasPrefix("hci") ? UInt16($0.dropFirst(3)) : nil }.sorted()
    }
}
