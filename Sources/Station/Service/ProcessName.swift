import EventLoop
import Glibc

/// What the system calls this process (proc(5), /proc/PID/comm). One that was started through /proc/self/exe, as the
/// daemon is after a wipe, is called `exe` until it says otherwise.
public enum ProcessName {
    private static let path = "/proc/self/comm"

    /// - Parameter name: at most 15 bytes.
    public static func set(_ name: String) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let file = FileDescriptor(owning: descriptor)
        let bytes = Array(name.utf8)
        _ = bytes.withUnsafeBytes { write(file.raw, $0.baseAddress, $0.count) }
    }
}
