import EventLoop
import Glibc
import Vault

/// What removes the traces that the daemon may not: journal, Tor's client data, the caches of the system's Bluetooth
/// service (chapter 06 §11.5 G). It runs as root, started by the service manager when a file appears, and is told
/// nothing else.
struct TraceHelper {
    /// Longer than `bitgate-erase.service` may take, and well within the watchdog's time.
    static let patience = 45_000
    private static let answerLimit = 4_096

    /// `nil`: there is none, by configuration.
    let folder: String?
    /// Lets so many milliseconds pass, and returns them.
    var pause: () -> Int

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Asks, and waits until it is done. Where no helper is installed, there is nothing to ask.
    func erase() throws {
        guard let folder, access(folder, F_OK) == 0 else { return }
        let request = folder + "/ask/now"
        let raw = open(request, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else { throw SystemError.last("open", subject: request) }
        close(raw)
        var waited = 0
        while access(request, F_OK) == 0 {
            guard waited < TraceHelper.patience else {
                unlink(request)
                throw Failure(description: "nobody answers the request \(request): is bitgate-erase.path started?")
            }
            waited += pause()
        }
        let answer = try read(folder + "/outcome")
        guard answer == "ok" else { throw Failure(description: "left behind: \(answer)") }
    }

    /// One line, of the helper's own words.
    private func read(_ path: String) throws -> String {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else { throw Failure(description: "the helper went away without an answer") }
        let file = FileDescriptor(owning: raw)
        let bytes = try PrivateFile.readAll(file, path: path, limit: TraceHelper.answerLimit)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").joined(separator: ", ")
    }
}
