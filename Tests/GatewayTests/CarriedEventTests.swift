import Nostr
import TestSupport
import Wire
import XCTest

/// The events inside carriers; WireTests.NostrCarrierTests checks the carriers themselves.
final class CarriedEventTests: XCTestCase {
    func testCarriedEventsAreTakenAndRefusedAsTheReferenceDoes() throws {
        try Vectors("nostr_carrier.json").run { vector in
            switch vector.kind {
            case "accept":
                let carrier = try XCTUnwrap(NostrCarrier(payload: vector.bytes("payload")))
                let event = try? NostrEvent(json: carrier.event)
                XCTAssertEqual(event != nil, try vector.bool("eventParses"), vector.name)
                XCTAssertEqual(event.flatMap(VerifiedEvent.init) != nil, try vector.bool("eventValid"), vector.name)
            case "encode", "encode_reject", "encode_large", "reject": break
            default: throw vector.unknownKind
            }
        }
    }
}
