import Basics

/// A line as the panel uses it; GPIO stands behind it, and a scripted one in tests.
public protocol PanelLine: AnyObject {
    /// Whether it is active; nil when the line is gone.
    var isActive: Bool? { get }
    /// - Returns: false when the line is gone.
    func set(_ isActive: Bool) -> Bool
    /// Readable when the level changed; nil where there is no such thing, and the level is only read now and then.
    var edges: Int32? { get }
    /// Takes the changes reported so far, oldest first; nil when the line is gone.
    func takeEdges() -> [LineEdge]?
}

/// A change of a line's level.
public struct LineEdge: Equatable, Sendable {
    /// The level behind it.
    public let isActive: Bool
    /// When it happened, which may be long before it is taken.
    public let at: Instant

    public init(isActive: Bool, at: Instant) {
        self.isActive = isActive
        self.at = at
    }
}

extension GPIOLine: PanelLine {
    public var edges: Int32? { descriptor }
}

/// Where a line is and how it is wired.
public struct PanelWire: Equatable, Sendable {
    public let address: LineAddress
    public let options: GPIOLine.Options

    public init(_ address: LineAddress, _ options: GPIOLine.Options = []) {
        self.address = address
        self.options = options
    }
}

/// Which lines the panel has.
public struct PanelConfiguration: Equatable, Sendable {
    public var lamps: [Lamp: PanelWire]
    public var button: PanelWire?
    /// Lamps stay dark until the button is tapped, but for faults and the wipe.
    public var isQuiet: Bool
    /// A level of the button that holds for this long is one.
    public var debounce = PanelLimits.debounce

    public init(lamps: [Lamp: PanelWire] = [:], button: PanelWire? = nil, isQuiet: Bool = false) {
        self.lamps = lamps
        self.button = button
        self.isQuiet = isQuiet
    }

    /// No panel, which is no error.
    public var isEmpty: Bool { lamps.isEmpty && button == nil }
    var isAlone: Bool { lamps.keys.elementsEqual([.status]) }
}
