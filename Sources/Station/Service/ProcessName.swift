import Glibc

/// What the system calls this process (/proc/PID/comm). One that was started through /proc/self/exe, as the daemon
/// is after a wipe, is called `exe` until it says otherwise.
public enum ProcessName {
    /// - Parameter name: at most 15 bytes.
    public static func set(_ name: String) { pthread_setname_np(pthread_self(), name) }
}
