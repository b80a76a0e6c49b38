import Basics
import XCTest

@testable import Radio

/// Chapter 03 D2 and D6, byte for byte.
final class ATTWorkedExampleTests: XCTestCase {
    private let exchange: [(request: String, response: String)] = [
        ("02 05 02", "03 05 02"),
        ("10 01 00 ff ff 00 28", "11 06 01 00 05 00 00 18 06 00 09 00 01 18"),
        ("10 0a 00 ff ff 00 28", "11 14 10 00 13 00 \(serviceHex)"),
        ("10 14 00 ff ff 00 28", "01 10 14 00 0a"),
        ("06 01 00 ff ff 00 28 \(serviceHex)", "07 10 00 13 00"),
        ("08 10 00 13 00 03 28", "09 15 11 00 1e 12 00 \(characteristicHex)"),
        ("04 13 00 13 00", "05 01 13 00 02 29"),
        ("12 13 00 01 00", "13"),
        ("08 01 00 ff ff 2a 2b", "01 08 01 00 0a"),
        ("0e 03 00 05 00", "01 0e 00 00 06"),
    ]

    func testServerAnswersTheWorkedExchange() {
        let phone = BearerUnderTest(.incoming)
        for (request, response) in exchange { XCTAssertEqual(phone.answer(to: request), response, request) }
        XCTAssertEqual(phone.effects(of: "52 12 00 \(frameHex)"), [.frame(bytes(frameHex))])
        XCTAssertEqual(phone.bearer.pdu(for: bytes(frameHex), at: phone.now), bytes("1b 12 00 \(frameHex)"))
    }

    func testServerAnswersTheSameAtTheSmallestMTU() {
        let phone = BearerUnderTest(.incoming)
        for (request, response) in exchange.dropFirst() {
            XCTAssertEqual(phone.answer(to: request), response, request)
        }
    }

    func testServiceOfADebugBuildDiffersInItsFirstByte() {
        let phone = BearerUnderTest(.incoming, service: .debugMeshService)
        let debug = "5a" + serviceHex.dropFirst(2)
        XCTAssertEqual(phone.answer(to: "06 01 00 ff ff 00 28 \(debug)"), "07 10 00 13 00")
        XCTAssertEqual(phone.answer(to: "06 01 00 ff ff 00 28 \(serviceHex)"), "01 06 01 00 0a")
    }

    func testClientAsksTheWorkedQuestionsAndSubscribesOnce() {
        let phone = BearerUnderTest(.outgoing)
        XCTAssertEqual(phone.take(), [.request("02 05 02")])
        let steps = [
            ("03 05 02", "06 01 00 ff ff 00 28 \(serviceHex)"), ("07 10 00 13 00", "08 10 00 13 00 03 28"),
            ("09 15 11 00 1e 12 00 \(characteristicHex)", "04 13 00 13 00"), ("05 01 13 00 02 29", "12 13 00 01 00"),
        ]
        for (response, request) in steps { XCTAssertEqual(phone.effects(of: response), [.request(request)]) }
        XCTAssertEqual(phone.effects(of: "13"), [.up(frameLimit: 512)])
        XCTAssertEqual(phone.bearer.pdu(for: bytes(frameHex), at: phone.now), bytes("52 12 00 \(frameHex)"))
        XCTAssertEqual(phone.effects(of: "1b 12 00 \(frameHex)"), [.frame(bytes(frameHex))])
        XCTAssertNil(phone.bearer.nextDeadline, "nothing is waited for")
    }
}
