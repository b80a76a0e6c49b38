extension UnsafeRawBufferPointer {
    /// The form in which C functions take bytes. They want an address even for no bytes, and read nothing there.
    var octets: UnsafePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(noBytes)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The form in which C functions take room for bytes.
    var octets: UnsafeMutablePointer<UInt8> { baseAddress?.assumingMemoryBound(to: UInt8.self) ?? noBytes }
}

/// An address of nothing. Unwrapping is sound: the pattern is not zero.
private var noBytes: UnsafeMutablePointer<UInt8> { UnsafeMutablePointer(bitPattern: 1).unsafelyUnwrapped }
