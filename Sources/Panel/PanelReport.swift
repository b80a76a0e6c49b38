/// What the panel is doing, for whoever asks.
public struct PanelReport: Equatable, Sendable {
    public struct LampReport: Equatable, Sendable {
        public let lamp: Lamp
        /// Nil while its line cannot be had.
        public let sign: PanelSign?
        public let problem: GPIOProblem?
    }

    public enum Button: Equatable, Sendable {
        /// There is none, by configuration.
        case none
        case listening
        /// Pressed all the time: not listened to until it is let go.
        case stuck
        case missing(GPIOProblem?)

        /// Whether somebody who presses it would be heard by nobody.
        public var isDeaf: Bool {
            switch self {
            case .none, .listening, .missing(nil): false
            case .stuck, .missing: true
            }
        }
    }

    /// In the order of `Lamp`.
    public let lamps: [LampReport]
    public let button: Button
}
