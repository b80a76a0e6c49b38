import XCTest

/// Lamps and the button on GPIO chips that the kernel simulates, whose lines are pulled and sampled from outside.
final class PanelSystemTests: XCTestCase {
    nonisolated(unsafe) private static let group = RadioGroup(
        "panel", limit: 900, machine: ["--controllers", "2", "--gpio", "4 4 16"])

    func testLinesThatMayNotBeTakenYetAreToldOfAndTakenOnceTheyMay() throws { try Self.group.verify() }
    func testAChipThatComesLateIsFoundByItsLabel() throws { try Self.group.verify() }
    func testTheRightToManageControllersIsAllTheDaemonNeeds() throws { try Self.group.verify() }
    func testAWellBoxWithoutNeighboursShowsThat() throws { try Self.group.verify() }
    func testTheMeshLampFollowsTheFrames() throws { try Self.group.verify() }
    func testATapLightsEveryLamp() throws { try Self.group.verify() }
    func testTheLampFollowsAHoldThatIsNotConfirmed() throws { try Self.group.verify() }
    func testTheWholeGestureWipesAndTheOutcomeIsShownUntilItWasSeen() throws { try Self.group.verify() }
    func testOnAReadOnlyCardTheLampTellsThatTheWipeFailedAndTheRadioIsOff() throws { try Self.group.verify() }
    func testWhatAKilledBoxLeftOnTheAirIsTakenDownByAWipeThatCannotBeCompleted() throws { try Self.group.verify() }
    func testABoxWithoutTimeAndWithoutTorSaysSo() throws { try Self.group.verify() }
    func testAnAdapterThatIsTakenAwayIsAFaultUntilItIsBack() throws { try Self.group.verify() }
    func testAButtonPressedFromTheStartIsToldOfAndDoesNotWipe() throws { try Self.group.verify() }
}

/// From the first message to the wipe: the box, phones beside it, a real relay, and another venue.
final class RehearsalSystemTests: XCTestCase {
    nonisolated(unsafe) private static let group = RadioGroup(
        "rehearsal", limit: 900, machine: ["--controllers", "5", "--gpio", "16"])

    func testPhonesTalkThroughTheBoxAndThroughTheRelay() throws { try Self.group.verify() }
    func testTheButtonWipesTheBox() throws { try Self.group.verify() }
    func testPhonesSeeANewAnonymousRelayAndTalkThroughIt() throws { try Self.group.verify() }
}

/// The daemon in the hands of systemd, as its unit and the helper of a wipe are installed.
final class ServiceSystemTests: XCTestCase {
    nonisolated(unsafe) private static let group = RadioGroup(
        "service", limit: 600, machine: ["--controllers", "1", "--gpio", "16"])

    func testTheServiceIsUpAsItsUserWithOneRightAndNoNetwork() throws { try Self.group.verify() }
    func testItHasItsControllerItsLampAndItsButton() throws { try Self.group.verify() }
    func testAWipeReachesWhatTheDaemonMayNot() throws { try Self.group.verify() }
    func testWhatIsKilledStartsAgain() throws { try Self.group.verify() }
}
