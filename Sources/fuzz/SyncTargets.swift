import Basics
import Wire

extension FuzzTarget {
    static let sync = [
        FuzzTarget("gcs-decode", checkDecoding), FuzzTarget("gcs-build", checkBuilding),
        FuzzTarget("request-sync", decode: { RequestSync(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("sync-types", checkTypes), FuzzTarget("fragment-filter", checkFragmentFilter),
    ]

    private static func checkDecoding(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        let parameter = input.byte()
        let modulus = UInt32(truncatingIfNeeded: input.long())
        let data = [UInt8](input.rest())
        let buckets = GCSFilter(parameter: parameter, modulus: modulus, data: data).buckets()
        require(buckets.count <= data.count * 4, "a member takes two bits at least")
        require(zip(buckets, buckets.dropFirst()).allSatisfy { $0 < $1 }, "members ascend")
        require(buckets.allSatisfy { $0 > 0 && $0 < modulus }, "members are in range")
        guard !buckets.isEmpty else { return }
        require(GCSFilter.parameters.contains(parameter), "only legal parameters have members")
    }

    private static func checkBuilding(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        let parameter = input.byte()
        let budget = Int(input.short() & 0x7ff)
        var hashes = [GCSHash]()
        while !input.isAtEnd { hashes.append(GCSHash(PacketID(high: input.long(), low: 0))) }
        let (filter, covered) = GCSFilter.build(newestFirst: hashes, budget: budget, parameter: parameter)
        require(filter.data.count <= budget, "the filter keeps its budget")
        require(covered <= hashes.count, "no more is covered than there is")
        let members = filter.members()
        require(hashes.prefix(covered).allSatisfy { members.contains($0) }, "what is covered is found")
    }

    private static func checkTypes(_ buffer: UnsafeRawBufferPointer) {
        guard let types = SyncTypes(wire: buffer) else {
            return require(buffer.isEmpty || buffer.count > 8, "1 to 8 bytes are a set")
        }
        require(types.wire.flatMap { SyncTypes(wire: $0) } ?? [] == types, "the wire form is the set")
        require(SyncTypes(types.messageTypes.map { SyncTypes($0) }) == types, "a set is its types")
    }

    private static func checkFragmentFilter(_ buffer: UnsafeRawBufferPointer) {
        let text = String(decoding: buffer, as: UTF8.self)
        guard let filter = FragmentFilter(text: text) else { return }
        var input = FuzzInput(buffer)
        _ = filter.contains(FragmentStreamID(value: input.long()))
    }
}
