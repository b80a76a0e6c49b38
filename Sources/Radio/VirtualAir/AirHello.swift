/// The greeting `AIR1 <name> <mtu>` each side of a virtual-air link sends once.
struct AirHello: Equatable {
    let name: AirName
    /// ATT MTU the sender offers; the link's is the smaller of the two.
    let mtu: Int

    static let mtuRange = 23...517
    static let longest = "AIR1  517".utf8.count + AirName.longest

    init(name: AirName, mtu: Int) {
        self.name = name
        self.mtu = mtu
    }

    /// `nil` for anything but the exact form: three fields, single spaces, decimal digits without a leading zero.
    init?(parsing bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= AirHello.longest, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let fields = String(decoding: bytes, as: UTF8.self).utf8.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard fields.count == 3, Substring(fields[0]) == "AIR1", let name = AirName(Substring(fields[1])),
            let mtu = AirHello.decimal(Substring(fields[2])), AirHello.mtuRange.contains(mtu)
        else { return nil }
        self.init(name: name, mtu: mtu)
    }

    var bytes: [UInt8] { Array("AIR1 \(name) \(mtu)".utf8) }

    private static func decimal(_ text: Substring) -> Int? {
        guard let first = text.utf8.first, first != UInt8(ascii: "0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }
}
