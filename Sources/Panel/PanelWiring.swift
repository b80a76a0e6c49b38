/// Where lamps and the button of a usual panel are, so that nobody has to find it out.
public enum PanelWiring: String, CaseIterable, Sendable {
    /// No panel but the lines that are named one by one.
    case none
    /// The 40-pin header of a Raspberry Pi and of the boards laid out like it, by the names device trees give them:
    /// pins 11, 13, 15 and 16 for the lamps, 18 for the button, all within reach of ground on 9, 14 and 20.
    case header
    /// The same with one lamp, the one for status.
    case headerOneLamp = "header-one-lamp"

    public func address(of lamp: Lamp) -> LineAddress? {
        guard self == .header || self == .headerOneLamp && lamp == .status else { return nil }
        return switch lamp {
        case .status: LineAddress("GPIO17")
        case .mesh: LineAddress("GPIO27")
        case .internet: LineAddress("GPIO22")
        case .mail: LineAddress("GPIO23")
        }
    }

    public var button: LineAddress? { self == .none ? nil : LineAddress("GPIO24") }
}
