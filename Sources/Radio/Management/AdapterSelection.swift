/// Which of the machine's controllers are ours.
public enum AdapterSelection: Hashable, Sendable {
    case all
    case chosen([AdapterName])
}

/// How an operator names a controller: `hci0`, or its public address, which stays the same when the kernel numbers
/// dongles differently.
public enum AdapterName: Hashable, Sendable {
    case index(UInt16)
    case address(BluetoothAddress)

    /// - Parameter text: `hciN`, or six pairs of hexadecimal digits with colons between them.
    public init?(_ text: String) {
        if text.hasPrefix("hci") {
            let digits = text.dropFirst(3)
            guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }), let index = UInt16(digits),
                index != ManagementCommand.noController
            else { return nil }
            self = .index(index)
            return
        }
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == 6, pairs.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }),
            let value = UInt64(pairs.joined(), radix: 16), value != 0
        else { return nil }
        self = .address(BluetoothAddress(value: value, kind: .public))
    }
}
