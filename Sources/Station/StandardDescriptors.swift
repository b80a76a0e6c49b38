import Glibc

public enum StandardDescriptors {
    /// Opens `/dev/null` for standard input, output and error where the program was started without them.
    /// Otherwise the next file or socket would get the number, and what is printed would go into it.
    public static func fill() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }
}
