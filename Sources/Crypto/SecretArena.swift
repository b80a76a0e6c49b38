import Clibsodium
import Synchronization

/// Where secrets lie: pages locked in memory and left out of core dumps, never given back, so that what a secret leaves
/// behind is under our control to the end.
///
/// Small secrets share pages. Locking each allocation by itself would unlock its neighbours with it, and libsodium's
/// guarded allocations cost three memory maps a secret, which a simulation of some thousand nodes would run out of.
enum SecretArena {
    /// Slot sizes; a secret takes the smallest that holds it. Larger ones get pages of their own.
    private static let slotSizes = [32, 64, 128, 256]
    private static let chunkSize = 65_536
    private static let pageSize = 4_096

    /// Addresses as numbers: pointers do not cross the lock.
    private struct State {
        var free: [[UInt]] = Array(repeating: [], count: slotSizes.count)
        /// Address and size of everything taken from the system.
        var regions: [UInt: Int] = [:]
        var unlockedBytes = 0
    }

    private static let state = Mutex(State())

    /// Bytes the system refused to lock, as it does beyond RLIMIT_MEMLOCK; they are still used.
    static var unlockedBytes: Int { state.withLock { $0.unlockedBytes } }

    /// Zeroed memory of `count` bytes.
    static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let address = state.withLock { state -> UInt in
            guard let slot = slotSizes.firstIndex(where: { count <= $0 }) else {
                return takeRegion((count + pageSize - 1) / pageSize * pageSize, &state)
            }
            if let address = state.free[slot].popLast() { return address }
            let chunk = takeRegion(chunkSize, &state)
            let size = UInt(slotSizes[slot])
            state.free[slot] = stride(from: chunk + size, to: chunk + UInt(chunkSize), by: Int(size)).reversed()
            return chunk
        }
        return UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
    }

    /// Takes back memory of `allocate`, which must have been overwritten.
    static func release(_ memory: UnsafeMutableRawBufferPointer) {
        let address = UInt(bitPattern: memory.baseAddress)
        state.withLock { state in
            if let slot = slotSizes.firstIndex(where: { memory.count <= $0 }) {
                state.free[slot].append(address)
            } else if let size = state.regions.removeValue(forKey: address),
                let start = UnsafeMutableRawPointer(bitPattern: address)
            {
                sodium_munlock(start, size)
                start.deallocate()
            }
        }
    }

    /// Overwrites every secret of the process.
    static func scrub() {
        state.withLock { state in
            for (address, size) in state.regions {
                if let start = UnsafeMutableRawPointer(bitPattern: address) { sodium_memzero(start, size) }
            }
        }
    }

    private static func takeRegion(_ size: Int, _ state: inout State) -> UInt {
        let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
        if sodium_mlock(start, size) != 0 { state.unlockedBytes += size }
        sodium_memzero(start, size)
        let address = UInt(bitPattern: start)
        state.regions[address] = size
        return address
    }
}

/// The memory of all secrets together.
public enum SecretMemory {
    /// Overwrites every secret of the process with zeros: for the panic wipe, after which nobody may use one of them.
    public static func scrub() { SecretArena.scrub() }

    /// Bytes of secrets the system would not lock in memory.
    public static var unlockedBytes: Int { SecretArena.unlockedBytes }
}
