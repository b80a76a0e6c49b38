import Glibc
import TestSupport

/// A directory like the kernel's of radio switches.
final class SwitchFolder {
    let path: String
    private var made: [String] = []

    init() throws {
        path = try makeFolder(for: "rfkill")
    }

    deinit {
        for file in made.reversed() where unlink(file) != 0 { rmdir(file) }
        rmdir(path)
    }

    func add(_ number: Int, type: String = "bluetooth", name: String, soft: Bool = false, hard: Bool = false) {
        let folder = "\(path)/rfkill\(number)"
        if mkdir(folder, 0o700) == 0 { made.append(folder) }
        for (file, text) in [("type", type), ("name", name), ("soft", soft ? "1" : "0"), ("hard", hard ? "1" : "0")] {
            write(text + "\n", to: "\(folder)/\(file)")
        }
    }

    private func write(_ text: String, to file: String) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { return }
        _ = Glibc.write(descriptor, text, text.utf8.count)
        close(descriptor)
        if !made.contains(file) { made.append(file) }
    }
}
