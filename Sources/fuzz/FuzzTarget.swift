import Basics
import Glibc

/// One structure under fuzzing: what is promised about it for any bytes at all.
struct FuzzTarget: Sendable {
    let name: String
    let run: @Sendable (UnsafeRawBufferPointer) -> Void

    init(_ name: String, _ run: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        self.name = name
        self.run = run
    }

    /// A structure whose encoded form must decode, and encode to the same bytes again.
    init<Value: Sendable>(
        _ name: String, decode: @escaping @Sendable ([UInt8]) -> Value?,
        encode: @escaping @Sendable (Value) -> [UInt8]?
    ) {
        self.init(name) { bytes in
            guard let value = decode([UInt8](bytes)), let encoded = encode(value) else { return }
            guard let again = decode(encoded) else { return require(false, "\(name): what was encoded decodes") }
            require(encode(again) == encoded, "\(name): encoding is stable")
        }
    }

    static let all =
        packets + fragments + sync + streams + payloads + texts + events + noise + privates + radio + uplink
}

/// Ends the run, so that the fuzzer keeps the input.
func require(_ condition: Bool, _ promise: @autoclosure () -> String) {
    guard !condition else { return }
    print("broken promise: \(promise())")
    fflush(nil)
    abort()
}

/// Turns fuzz bytes into arguments; zeros take the place of what is missing at the end.
struct FuzzInput {
    private var reader: ByteReader

    init(_ bytes: UnsafeRawBufferPointer) { reader = ByteReader(bytes) }

    var isAtEnd: Bool { reader.isAtEnd }
    mutating func byte() -> UInt8 { number() }
    mutating func short() -> UInt16 { number() }
    mutating func long() -> UInt64 { number() }

    /// Up to `count` bytes.
    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        reader.readView(min(count, reader.remaining)) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    mutating func rest() -> UnsafeRawBufferPointer { bytes(reader.remaining) }

    private mutating func number<T: FixedWidthInteger>() -> T {
        if let number = reader.readInteger(T.self) { return number }
        _ = rest()
        return 0
    }
}
