import Basics

/// Every tenth frame is lost, and the others are late, until the weather clears.
public final class LossScenario: ParkScenario {
    public override class var name: String { "loss" }
    public override class var summary: String {
        "people in a park; every tenth frame is lost, until the weather clears"
    }

    public required init(_ setting: Setting) {
        var weather = Weather()
        weather.conditions = SimulatedMesh.Conditions(delay: 5...250, loss: 0.1)
        // Nothing is promised in time while it lasts.
        weather.patience.round = .hours(1_000)
        // Whoever was served in vain is served again after two minutes (chapter 04 §7.3).
        weather.clearing = .seconds(380)
        super.init(setting, weather, salt: 0x105)
    }
}

/// Nobody stays.
public final class ChurnScenario: ParkScenario {
    public override class var name: String { "churn" }
    public override class var summary: String {
        "people in a park who leave, with or without a goodbye, and others who come"
    }

    public required init(_ setting: Setting) {
        var weather = Weather()
        weather.churns = true
        super.init(setting, weather, salt: 0xc4)
    }
}

/// What is torn apart grows together again.
public final class PartitionScenario: ParkScenario {
    public override class var name: String { "partition" }
    public override class var summary: String { "people in a park that is cut in two for minutes, again and again" }

    public required init(_ setting: Setting) {
        var weather = Weather()
        weather.tears = true
        super.init(setting, weather, salt: 0x9a)
    }
}

/// Some nodes live in another time.
public final class SkewScenario: ParkScenario {
    public override class var name: String { "skew" }
    public override class var summary: String {
        "people in a park, a third of them with clocks that are minutes or hours off"
    }

    public required init(_ setting: Setting) {
        var weather = Weather()
        weather.strays = 0.34
        super.init(setting, weather, salt: 0x5e)
    }
}

/// Two phones forge, replay and garble.
public final class HostileScenario: ParkScenario {
    public override class var name: String { "hostile" }
    public override class var summary: String { "people in a park, and two phones that forge, replay and garble" }

    public required init(_ setting: Setting) {
        var weather = Weather()
        weather.hostilePhones = 2
        super.init(setting, weather, salt: 0x40)
    }
}

/// Machines that lose their power.
public final class RestartScenario: ParkScenario {
    public override class var name: String { "restarts" }
    public override class var summary: String {
        "people in a park whose phones die and come back with what they wrote down"
    }

    public required init(_ setting: Setting) {
        var weather = Weather()
        weather.restarts = true
        super.init(setting, weather, salt: 0x4e)
    }
}
