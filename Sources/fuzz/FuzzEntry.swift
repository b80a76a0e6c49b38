import Glibc

/// The target of this process, from the environment: a fuzzer has one corpus and therefore one target.
private let chosen: FuzzTarget = {
    let name = getenv("BITGATE_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    if name == "list" {
        for target in FuzzTarget.all { print(target.name) }
        exit(0)
    }
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        print("fuzz: set BITGATE_FUZZ_TARGET to 'list' or to one of its names")
        exit(2)
    }
    return target
}()

@_cdecl("LLVMFuzzerInitialize")
public func initialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
    _ = chosen
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen.run(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
