import Basics
import EventLoop
import Glibc
import Vault

/// By what a machine is told from another: hashes of its machine ID, its board's serial number and the installation's
/// ID. Keys must not move silently to another body (chapter 06 §12).
struct HostMarks: Equatable {
    /// In the order they are stored; nil where the machine does not tell.
    let marks: [[UInt8]?]

    private static let sources: [[String]] = [
        ["/etc/machine-id"],
        ["/sys/firmware/devicetree/base/serial-number", "/sys/class/dmi/id/board_serial"],
        ["/etc/bitgate/install-id"],
    ]
    private static let sizeLimit = 4_096

    init(marks: [[UInt8]?]) { self.marks = marks }

    /// Those of the machine this runs on.
    static var current: HostMarks {
        HostMarks(marks: sources.map { paths in paths.lazy.compactMap { mark($0) }.first })
    }

    /// Marks by which any machine is the right one: for people, who may carry their files about.
    static let any = HostMarks(marks: sources.map { _ in nil })

    private static func mark(_ path: String) -> [UInt8]? {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { return nil }
        let file = FileDescriptor(owning: raw)
        guard let bytes = try? PrivateFile.readAll(file, path: path, limit: sizeLimit) else { return nil }
        let text = bytes.filter { $0 > 0x20 && $0 < 0x7f }
        // What systemd writes until the first boot is over (machine-id(5)).
        return text.isEmpty || text == Array("uninitialized".utf8) ? nil : SHA256.hash(text)
    }

    /// Whether a mark that both tell differs. A mark only one of them tells proves nothing.
    func isOtherMachine(than other: HostMarks) -> Bool {
        zip(marks, other.marks).contains { mine, theirs in mine != nil && theirs != nil && mine != theirs }
    }

    var encoded: [UInt8] { marks.flatMap { [$0 == nil ? 0 : 1] + ($0 ?? []) } }

    init?(reading reader: inout ByteReader) {
        var marks: [[UInt8]?] = []
        for _ in HostMarks.sources {
            switch reader.readUInt8() {
            case 0: marks.append(nil)
            case 1:
                guard let hash = reader.readBytes(SHA256.digestSize) else { return nil }
                marks.append(hash)
            default: return nil
            }
        }
        guard reader.isAtEnd else { return nil }
        self.marks = marks
    }
}
