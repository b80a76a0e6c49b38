import Clibsodium

/// Something that must never reach a log, a crash report or a debugger listing: it prints as its type's name and
/// mirrors as empty.
public protocol Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Secret {
    public var description: String { "\(Self.self)(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Secret bytes: never copied by Swift, kept in locked memory, overwritten with zeros before they are released.
public final class SecretBytes: Secret, @unchecked Sendable {
    // Sendable: the memory is written by the initialisers only, before anybody else holds a reference.
    private let memory: UnsafeMutableRawBufferPointer
    private let release: @Sendable (UnsafeMutableRawBufferPointer) -> Void

    public var count: Int { memory.count }

    /// `count` bytes written by `fill`, which sees zeros first.
    public init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        memory = SecretArena.allocate(max(0, count))
        release = SecretArena.release
        fill(memory)
    }

    /// For tests: `release` receives the memory, already overwritten, and must deallocate it.
    init(copying bytes: [UInt8], release: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void) {
        memory = .allocate(byteCount: bytes.count, alignment: 16)
        memory.copyBytes(from: bytes)
        self.release = release
    }

    public convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// The array itself is not overwritten: it belongs to the caller.
    public convenience init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// `count` bytes out of an injected generator.
    public static func random(count: Int, using random: inout some RandomNumberGenerator) -> SecretBytes {
        SecretBytes(count: count) { memory in
            var word: UInt64 = 0
            for offset in 0..<memory.count {
                if offset % 8 == 0 { word = random.next() }
                memory[offset] = UInt8(truncatingIfNeeded: word >> 56)
                word <<= 8
            }
        }
    }

    deinit {
        sodium_memzero(memory.octets, memory.count)
        release(memory)
    }

    /// The bytes, valid only inside `body`.
    public func withBytes<R, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        try body(UnsafeRawBufferPointer(memory))
    }
}

extension SecretBytes: Equatable {
    /// Constant time for equal lengths.
    public static func == (a: SecretBytes, b: SecretBytes) -> Bool {
        a.count == b.count && sodium_memcmp(a.memory.octets, b.memory.octets, a.count) == 0
    }
}
