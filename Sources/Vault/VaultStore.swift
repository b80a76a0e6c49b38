/// One kind of record: its name, and how much of it is kept.
public struct VaultStore: Hashable, Sendable {
    /// What the file calls the store. Never reused for another.
    public let number: Int64
    /// What its keys are derived by.
    public let name: String
    /// Most records; beyond it those of the lowest class go first, within a class the oldest.
    public let records: Int
    /// Most sealed bytes.
    public let bytes: Int

    public init(number: Int64, name: String, records: Int, bytes: Int) {
        self.number = number
        self.name = name
        self.records = records
        self.bytes = bytes
    }
}

/// A record as it was put.
public struct VaultRecord: Hashable, Sendable {
    public let key: [UInt8]
    public let value: [UInt8]

    public init(key: [UInt8], value: [UInt8]) {
        self.key = key
        self.value = value
    }

    /// What is sealed: the key goes with the value, since the row shows only a hash of it.
    var content: [UInt8] { [UInt8(truncatingIfNeeded: key.count)] + key + value }

    /// `nil` for what `content` does not make.
    init?(content: [UInt8]) {
        guard let length = content.first, content.count > Int(length) else { return nil }
        key = Array(content[1..<1 + Int(length)])
        value = Array(content[(1 + Int(length))...])
    }
}
