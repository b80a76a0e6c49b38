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

extension [UInt8] {
    /// `withUnsafeBytes` that keeps the type of the error.
    func withOctets<R, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        try withUnsafeBytes { bytes in Result { () throws(Failure) -> R in try body(bytes) } }.get()
    }
}

/// An address of nothing. Unwrapping is sound: the pattern is not zero.
private var noBytes: UnsafeMutablePointer<UInt8> { UnsafeMutablePointer(bitPattern: 1).unsafelyUnwrapped }
