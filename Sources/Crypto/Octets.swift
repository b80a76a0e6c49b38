/// A byte whose address stands in for that of an empty buffer: C functions want a pointer even where they read nothing.
private struct Placeholder: @unchecked Sendable {
    let address = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

    static let shared = Placeholder()
}

extension UnsafeRawBufferPointer {
    /// The form in which C functions take bytes.
    var octets: UnsafePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(Placeholder.shared.address)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The form in which C functions take room for bytes.
    var octets: UnsafeMutablePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? Placeholder.shared.address
    }
}
