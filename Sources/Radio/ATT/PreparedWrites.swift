/// The parts of long writes a peer has prepared on one link (Core Specification, Vol 3 Part F 3.4.6).
struct PreparedWrites {
    private struct Part {
        let handle: UInt16
        let offset: Int
        let value: [UInt8]
    }

    private var parts: [Part] = []
    private(set) var bytes = 0

    /// Takes one part in, unless the queue is full.
    mutating func add(_ value: UnsafeRawBufferPointer, to handle: UInt16, at offset: UInt16) -> Bool {
        guard parts.count < ATTLimits.preparedParts, value.count <= ATTLimits.preparedBytes - bytes else {
            return false
        }
        parts.append(Part(handle: handle, offset: Int(offset), value: [UInt8](value)))
        bytes += value.count
        return true
    }

    /// The values the parts make, in the order they begin, and an empty queue either way. A part continues its
    /// attribute's value where that ends, or begins a new one.
    mutating func take() throws(ATTRefusal) -> [(handle: UInt16, value: [UInt8])] {
        defer { removeAll() }
        var values: [(handle: UInt16, value: [UInt8])] = []
        for part in parts {
            if part.offset == 0 {
                values.append((part.handle, part.value))
            } else if let open = values.lastIndex(where: { $0.handle == part.handle }),
                values[open].value.count == part.offset
            {
                values[open].value += part.value
            } else {
                throw ATTRefusal(.invalidOffset, part.handle)
            }
        }
        return values
    }

    mutating func removeAll() {
        parts.removeAll()
        bytes = 0
    }
}
