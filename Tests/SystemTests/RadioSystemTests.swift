import Foundation
import XCTest

/// One group of radio tests: a run of `deploy/vm` with a script of `Tests/VM`, whose verdicts the tests of the same
/// names repeat. The machine is booted once for a group.
final class RadioGroup {
    /// They take a quarter of an hour and a machine to themselves, so that only `deploy/test` asks for them.
    static let isWanted = ProcessInfo.processInfo.environment["BITGATE_RADIO_TESTS"] != nil

    /// How `deploy/vm` says that not the script but the machine failed.
    private static let machineFailed: Int32 = 125

    private let script: String
    private let arguments: [String]
    private let machine: [String]
    private let limit: Int
    private let remembers: Bool
    private var outcome: (verdicts: [String: String], rest: String)?

    /// - Parameters:
    ///   - limit: seconds the script may take, on a slow and busy machine.
    ///   - machine: options of `deploy/vm`.
    ///   - remembers: gateways start with all they can remember of messages, as after hours of talk.
    init(_ script: String, _ arguments: [String] = [], limit: Int, machine: [String], remembers: Bool = false) {
        self.script = script
        self.arguments = arguments
        self.limit = limit
        self.machine = machine
        self.remembers = remembers
    }

    static let vm = Programs.root.appendingPathComponent("deploy/vm").path
    static var python: String {
        let environment = ProcessInfo.processInfo.environment["BITGATE_VENV"] ?? Programs.root.path + "/.venv"
        return environment + "/bin/python"
    }
    /// Where the gateways under test are: the release build when `deploy/test` has made one.
    static var programs: String { ProcessInfo.processInfo.environment["BITGATE_PROGRAMS"] ?? Programs.folder.path }

    private func run() throws -> (verdicts: [String: String], rest: String) {
        if let outcome { return outcome }
        guard RadioGroup.isWanted else {
            throw XCTSkip("only deploy/test runs these, without --quick and --no-radio")
        }
        let scratch = try Scratch()
        let check = try Programs.start(RadioGroup.vm, ["--check"], in: scratch).wait()
        guard check.status == 0 else { throw XCTSkip(check.output) }
        guard FileManager.default.isExecutableFile(atPath: RadioGroup.python) else {
            throw XCTSkip("there are no phones: deploy/setup --radio makes them")
        }
        var environment = ["BITGATE_PROGRAMS": RadioGroup.programs]
        if remembers {
            let filled = scratch.path + "/filled"
            let fill = try Programs.start(
                RadioGroup.python, ["-B", "Tests/VM/fill.py", filled], in: scratch, environment: environment
            ).wait()
            guard fill.status == 0 else { return ([:], fill.errors) }
            environment["BITGATE_FILLED"] = filled
        }
        func play() throws -> Programs.Outcome {
            try Programs.start(
                RadioGroup.vm,
                machine + ["--limit", String(limit), "--", RadioGroup.python, "-B", "Tests/VM/\(script).py"]
                    + arguments,
                in: scratch, environment: environment
            ).wait()
        }
        var end = try play()
        // An emulated kernel dies now and then while it patches its own code. A second death is not put up with.
        if end.status == RadioGroup.machineFailed {
            print("\(script): the machine died, and is started once more\n\(end.errors.suffix(2_000))")
            end = try play()
        }
        var verdicts: [String: String] = [:]
        for line in end.output.split(separator: "\n") {
            for prefix in ["ok ", "not ok "] where line.hasPrefix(prefix) {
                let name = line.dropFirst(prefix.count).prefix { $0 != ":" }
                verdicts[String(name)] = String(line)
            }
        }
        let made = (verdicts, "status \(end.status)\n" + end.errors)
        outcome = made
        return made
    }

    /// Repeats the verdict on the test that calls.
    func verify(_ name: String = #function) throws {
        let (verdicts, rest) = try run()
        let promise = String(name.prefix { $0 != "(" })
        guard let verdict = verdicts[promise] else { return XCTFail("no verdict; \(rest)") }
        if !verdict.hasPrefix("ok ") { XCTFail(verdict + "\n" + rest) }
    }
}

/// Gateways, people and phones on three Bluetooth stacks, over the kernel's own.
final class RadioConversationTests: XCTestCase {
    nonisolated(unsafe) private static let group = RadioGroup(
        "conversation", limit: 1_200,
        machine: ["--controllers", "6", "--package", "bluez", "--package", "dbus"])

    func testPeopleTalkAcrossTwoGatewaysThatTheyCallThemselves() throws { try Self.group.verify() }
    func testPublicPrivateAndLongMessagesArriveWherePeopleCallTheirGateways() throws { try Self.group.verify() }
    func testPeopleTalkAcrossTwoGatewaysThatCallThem() throws { try Self.group.verify() }
    func testPublicPrivateAndLongMessagesArriveWhereGatewaysCallPeople() throws { try Self.group.verify() }
    func testEverybodyInReachOfEverybodyHearsEachLineOnce() throws { try Self.group.verify() }
    func testAPhonesOwnSystemDiscoversSubscribesWritesAndReadsNotifications() throws { try Self.group.verify() }
    func testAnIndependentStackIsCalledByTheBox() throws { try Self.group.verify() }
    func testAnIndependentStackDownToTheControllerIsMetOnASecondAdapter() throws { try Self.group.verify() }
    func testGatewaysAndPeopleLeaveInOrder() throws { try Self.group.verify() }
}

/// What controllers and phones do to a box.
final class RadioTroubleTests: XCTestCase {
    nonisolated(unsafe) private static let group = RadioGroup("trouble", limit: 1_500, machine: ["--controllers", "6"])

    func testTheBoxAdvertisesAsPhonesExpectAndNobodysAddressIsInTheLog() throws { try Self.group.verify() }
    func testAnIPhoneJoinsThroughItsOwnSequence() throws { try Self.group.verify() }
    func testAnAndroidPhoneJoinsBesideTheIPhone() throws { try Self.group.verify() }
    func testABoxThatCallsAPhoneAsksOnlyWhatAPhoneAnswers() throws { try Self.group.verify() }
    func testNotificationsOf517BytesAtAnMTUOf23AreUnderstood() throws { try Self.group.verify() }
    func testAPeerThatNeverAnswersIsGivenUpAndOthersAreServed() throws { try Self.group.verify() }
    func testAdvertisingRemovedBehindTheBoxsBackComesBack() throws { try Self.group.verify() }
    func testTenFailuresToConnectAreFollowedByALink() throws { try Self.group.verify() }
    func testABlockedAdapterIsToldApartAndComesBack() throws { try Self.group.verify() }
    func testAnAdapterTakenAwayUnderLoadAndBroughtBackServesAgain() throws { try Self.group.verify() }
    func testTheBoxStopsWithoutLeavingAnythingOnTheAir() throws { try Self.group.verify() }
}

/// `bitgate doctor` on a machine whose Bluetooth is real to it.
final class RadioDoctorTests: XCTestCase {
    nonisolated(unsafe) private static let group = RadioGroup(
        "health", limit: 600, machine: ["--controllers", "2", "--package", "bluez", "--package", "dbus"])

    func testTheDoctorFindsNothingOnAWellMachine() throws { try Self.group.verify() }
    func testTheDoctorNamesABlockedAdapter() throws { try Self.group.verify() }
    func testTheDoctorNamesAMissingRight() throws { try Self.group.verify() }
    func testTheDoctorNamesAnAdapterSomebodyHasToThemselves() throws { try Self.group.verify() }
    func testTheDoctorNamesAYoungerListener() throws { try Self.group.verify() }
    func testTheDoctorNamesTheSystemsBluetoothService() throws { try Self.group.verify() }
    func testTheDoctorNamesAMachineWithoutAdapters() throws { try Self.group.verify() }
}

/// A conversation that goes on. Minutes come from BITGATE_RADIO_MINUTES; `deploy/soak --radio` plays longer ones.
final class RadioSustainedTests: XCTestCase {
    private static let minutes = ProcessInfo.processInfo.environment["BITGATE_RADIO_MINUTES"] ?? "2"
    nonisolated(unsafe) private static let group = RadioGroup(
        "sustained", [minutes], limit: Int((Double(minutes) ?? 0) * 60) + 1_800, machine: ["--controllers", "4"],
        remembers: true)

    func testPeopleTalkForMinutesWithoutALostMessage() throws { try Self.group.verify() }
    func testMemoryAndDescriptorsStayAsTheyAre() throws { try Self.group.verify() }
}
