import Basics
import Panel

/// How a line of the panel is given: nothing said, none, or a place.
public enum PanelLineChoice: Equatable, Sendable {
    case none
    case line(LineAddress)
}

extension Configuration {
    /// Lamps and the button. A line that is not named is where the wiring has it.
    public struct Panel: Equatable, Sendable {
        /// How the button's input is held while nobody presses.
        public enum Bias: String, CaseIterable, Sendable {
            case none
            case pullUp = "pull-up"
            case pullDown = "pull-down"
        }

        public var wiring = PanelWiring.none
        public var status: PanelLineChoice?
        public var mesh: PanelLineChoice?
        public var internet: PanelLineChoice?
        public var mail: PanelLineChoice?
        public var button: PanelLineChoice?
        public var lampsAreActiveLow = false
        public var buttonIsActiveLow = true
        public var buttonBias = Bias.pullUp
        /// Milliseconds.
        public var debounce = 30
        public var isQuiet = false

        public init() {}

        /// Every line in use with the key that names it.
        var lines: [(key: String, address: LineAddress)] {
            var lines: [(key: String, address: LineAddress)] = []
            for lamp in Lamp.allCases {
                guard let address = resolve(choice(lamp), wiring.address(of: lamp)) else { continue }
                lines.append((key: "panel." + lamp.rawValue, address: address))
            }
            if let address = resolve(button, wiring.button) { lines.append((key: "panel.button", address: address)) }
            return lines
        }

        private func choice(_ lamp: Lamp) -> PanelLineChoice? {
            switch lamp {
            case .status: status
            case .mesh: mesh
            case .internet: internet
            case .mail: mail
            }
        }

        private func resolve(_ choice: PanelLineChoice?, _ usual: LineAddress?) -> LineAddress? {
            switch choice {
            case nil: usual
            case .some(.none): nil
            case .some(.line(let address)): address
            }
        }

        var configuration: PanelConfiguration {
            var panel = PanelConfiguration(isQuiet: isQuiet)
            panel.debounce = .milliseconds(debounce)
            for lamp in Lamp.allCases {
                guard let address = resolve(choice(lamp), wiring.address(of: lamp)) else { continue }
                panel.lamps[lamp] = PanelWire(address, lampsAreActiveLow ? .activeLow : [])
            }
            guard let address = resolve(button, wiring.button) else { return panel }
            var options: GPIOLine.Options = buttonIsActiveLow ? .activeLow : []
            switch buttonBias {
            case .none: break
            case .pullUp: options.insert(.pullUp)
            case .pullDown: options.insert(.pullDown)
            }
            panel.button = PanelWire(address, options)
            return panel
        }
    }
}

extension SettingRule where Value == PanelLineChoice {
    static var panelLine: SettingRule {
        .text(
            "a line's name such as \"GPIO17\", a chip's label with an offset such as \"pinctrl-rp1:17\", or \"none\"",
            parse: { text in
                if text == "none" { return PanelLineChoice.none }
                return LineAddress(text).map { .line($0) }
            },
            write: { choice in
                switch choice {
                case .none: "none"
                case .line(let address): address.description
                }
            })
    }
}
