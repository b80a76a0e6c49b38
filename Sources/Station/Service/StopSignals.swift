import Glibc

/// The signals that ask the daemon to stop. While they are held they wait in the kernel, across `exec` as well, so that
/// one which comes during a wipe neither cuts it short nor is lost with the process image.
public enum StopSignals {
    public static let all = [SIGTERM, SIGINT]

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in all { sigaddset(&set, number) }
        return set
    }

    public static func hold() { change(SIG_BLOCK) }

    /// Whoever listens is told now of what came meanwhile.
    public static func release() { change(SIG_UNBLOCK) }

    private static func change(_ how: Int32) {
        var set = set
        pthread_sigmask(how, &set, nil)
    }

    /// Whether one came while they were held.
    static var isAsked: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return all.contains { sigismember(&pending, $0) == 1 }
    }
}
