/// A controller's settings, supported or current (mgmt-api, "Read Controller Information").
public struct AdapterSettings: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let powered = AdapterSettings(rawValue: 1 << 0)
    public static let connectable = AdapterSettings(rawValue: 1 << 1)
    public static let bondable = AdapterSettings(rawValue: 1 << 4)
    /// BR/EDR.
    public static let classic = AdapterSettings(rawValue: 1 << 7)
    public static let lowEnergy = AdapterSettings(rawValue: 1 << 9)
    /// Advertising outside of instances, which takes precedence over them.
    public static let advertising = AdapterSettings(rawValue: 1 << 10)
    public static let privacy = AdapterSettings(rawValue: 1 << 13)
    /// The static random address is the one in use.
    public static let staticAddress = AdapterSettings(rawValue: 1 << 15)
}
