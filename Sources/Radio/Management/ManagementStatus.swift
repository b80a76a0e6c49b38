/// How the kernel judged a command (mgmt-api, "Error Codes").
public struct ManagementStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let success = ManagementStatus(rawValue: 0x00)
    public static let unknownCommand = ManagementStatus(rawValue: 0x01)
    public static let notConnected = ManagementStatus(rawValue: 0x02)
    public static let failed = ManagementStatus(rawValue: 0x03)
    public static let connectFailed = ManagementStatus(rawValue: 0x04)
    /// The controller has no room for another connection.
    public static let noResources = ManagementStatus(rawValue: 0x07)
    public static let timeout = ManagementStatus(rawValue: 0x08)
    public static let busy = ManagementStatus(rawValue: 0x0a)
    public static let rejected = ManagementStatus(rawValue: 0x0b)
    public static let invalidParameters = ManagementStatus(rawValue: 0x0d)
    public static let notPowered = ManagementStatus(rawValue: 0x0f)
    /// No such controller, or somebody holds it exclusively.
    public static let invalidIndex = ManagementStatus(rawValue: 0x11)
    public static let blocked = ManagementStatus(rawValue: 0x12)
    /// The process lacks CAP_NET_ADMIN.
    public static let permissionDenied = ManagementStatus(rawValue: 0x14)
}
