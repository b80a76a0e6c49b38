import Glibc

public enum CoreDumps {
    /// No core dump holds keys or names (chapter 06 §11.5).
    public static func disable() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
