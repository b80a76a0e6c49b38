import Basics
import XCTest

@testable import Wire

/// The worked examples of chapter 01 §17.8 and chapter 04 §18 about packet IDs, filters and requests. W8 is in
/// FrameTests.
final class SyncExampleTests: XCTestCase {
    private let chunk = GCSFilter.parameter(falsePositiveRate: 0.01)

    // MARK: Chapter 01 §17.8

    func testRequestFromAToB() throws {
        let ids = [
            "ae170875dba3a5ce89b267c76e6c86e7", "10a7fcde2b0976e80d5609aecb15edec", "43b5c08e94eea2953ca8b0525b73d3fc",
        ]
        let hashes = try ids.map { GCSHash(try XCTUnwrap(PacketID(hex($0)))) }
        let (filter, covered) = GCSFilter.build(newestFirst: hashes, budget: 400, parameter: 7)
        XCTAssertEqual(covered, 3)
        XCTAssertEqual(filter.buckets(), [124, 199, 299])
        XCTAssertEqual(filter, GCSFilter(parameter: 7, modulus: 384, data: hex("7b4a63")))

        let request = RequestSync(
            filter: filter, types: [.announce, .message],
            since: WallTime(milliseconds: Example.time.milliseconds - 60_000))
        let payload = hex("01000107020004000001800300037b4a630400010305000800000197741ff21b")
        XCTAssertEqual(request.encoded(), payload)
        XCTAssertEqual(RequestSync(payload: payload), request)

        let packet = Packet(
            type: .requestSync, ttl: 0, timestamp: Example.time, senderID: Example.A.peerID,
            recipientID: Example.B.peerID, payload: payload,
            signature: octets(
                """
                76a3a9a22f35b495ee079302f013abd7d610c8b92d95a61003701fd5c3f7b4dc1cd7d072db2d71653a49a239cf7eea8b
                8aa9e80bd706c68d425197ae9134d00c
                """))
        XCTAssertEqual(
            try packet.encoded(),
            octets(
                """
                012100000001977420dc7b030020aaa8fff703b50b22bc841db8fea3efd801000107020004000001800300037b4a6304
                00010305000800000197741ff21b76a3a9a22f35b495ee079302f013abd7d610c8b92d95a61003701fd5c3f7b4dc1cd7
                d072db2d71653a49a239cf7eea8b8aa9e80bd706c68d425197ae9134d00c
                """))
    }

    func testContractVectorOfAndroid() {
        let request = RequestSync(filter: GCSFilter(parameter: 19, modulus: 0x0102_0304, data: hex("aabb")))
        XCTAssertEqual(request.encoded(), hex("0100011302000401020304030002aabb"))
        XCTAssertEqual(([.boardPost, .prekeyBundle, .groupMessage] as SyncTypes).wire, hex("0007"))
    }

    // MARK: Chapter 04 W1 to W3

    private struct Message {
        let sender: UInt64
        let timestamp: UInt64
        let text: String
        let id: String
        let bucket: UInt32

        var packet: Packet {
            Packet(
                type: .message, timestamp: WallTime(milliseconds: timestamp), senderID: PeerID(value: sender),
                payload: Array(text.utf8))
        }
    }

    private let messages = [
        Message(
            sender: 0x1122_3344_5566_7788, timestamp: 1_700_000_000_000, text: "hello mesh",
            id: "f7a08cd87a5da6be1a60625b7ec647f1", bucket: 194),
        Message(
            sender: 0x1122_3344_5566_7788, timestamp: 1_700_000_001_500, text: "water at the gate",
            id: "a76baea589e5317e8731f064241273cd", bucket: 275),
        Message(
            sender: 0xa1b2_c3d4_e5f6_0718, timestamp: 1_700_000_004_000, text: "café open",
            id: "5cbf1533ebddcdb74771e2f797160e4c", bucket: 511),
        Message(
            sender: 0x1122_3344_5566_7788, timestamp: 1_700_000_009_000, text: "ok",
            id: "e66283709ec98f71ad86cdc762db58f8", bucket: 580),
        Message(
            sender: 0xa1b2_c3d4_e5f6_0718, timestamp: 1_700_000_012_000, text: "bye",
            id: "6a4c21c828181de5f54509938fa6147d", bucket: 519),
    ]

    private var filter: GCSFilter {
        GCSFilter.build(newestFirst: messages.reversed().map { GCSHash($0.packet.id) }, budget: 400, parameter: chunk)
            .filter
    }

    func testPacketIDs() {
        for message in messages { XCTAssertEqual(message.packet.id.hex, message.id) }
    }

    func testTheFilterOfTheExampleIsBuiltAsWritten() {
        for message in messages {
            XCTAssertEqual(GCSHash(message.packet.id).bucket(modulus: 640), message.bucket)
        }
        XCTAssertEqual(filter, GCSFilter(parameter: 7, modulus: 640, data: hex("a0a85ac1cf00")))
        XCTAssertEqual(filter.buckets(), [194, 275, 511, 519, 580])
        let members = filter.members()
        XCTAssertTrue(messages.allSatisfy { members.contains($0.packet.id) })

        let missing = Message(
            sender: 0x1122_3344_5566_7788, timestamp: 1_700_000_020_000, text: "anyone there?",
            id: "2a79fd1242ac680763f08e024cd3e456", bucket: 584)
        XCTAssertEqual(missing.packet.id.hex, missing.id)
        XCTAssertEqual(GCSHash(missing.packet.id).bucket(modulus: 640), missing.bucket)
        XCTAssertFalse(members.contains(missing.packet.id))
    }

    func testSignedRequest() throws {
        let request = RequestSync(filter: filter, types: [.announce, .message, .groupMessage])
        let payload = hex("0100010702000400000280030006a0a85ac1cf000400020304")
        XCTAssertEqual(request.encoded(), payload)
        var packet = Packet(
            type: .requestSync, ttl: 0, timestamp: WallTime(milliseconds: 1_700_000_030_000),
            senderID: PeerID(value: 0x0102_0304_0506_0708), recipientID: PeerID(value: 0x99aa_bbcc_ddee_ff00),
            payload: payload)
        XCTAssertEqual(
            try packet.signingInput(),
            octets(
                """
                0121000000018bcfe5dd30010019010203040506070899aabbccddeeff000100010702000400000280030006
                a0a85ac1cf000400020304 c9*201
                """))
        packet.signature = octets(
            """
            1e799527a6335eb75d741b15e54392ad184a7e2272260ff5d271a98ac24f0819deb0e40e60e98811a535d188
            588fd8c6e18d065cf1e40fe2448922996291a001
            """)
        XCTAssertEqual(
            try packet.encoded(),
            octets(
                """
                0121000000018bcfe5dd30030019010203040506070899aabbccddeeff000100010702000400000280030006
                a0a85ac1cf0004000203041e799527a6335eb75d741b15e54392ad184a7e2272260ff5d271a98ac24f0819de
                b0e40e60e98811a535d188588fd8c6e18d065cf1e40fe2448922996291a001
                """))
    }

    // MARK: Chapter 04 W4

    func testEmptyStoreRequests() {
        let empty = GCSFilter.build(newestFirst: [], budget: 400, parameter: chunk).filter
        let served: SyncTypes = [
            .announce, .message, .fragment, .fileTransfer, .boardPost, .prekeyBundle, .groupMessage,
        ]
        let expected: [(SyncTypes?, String)] = [
            ([.announce, .message, .groupMessage], "01000107020004000000010300000400020304"),
            (.fragment, "010001070200040000000103000004000120"),
            (.fileTransfer, "010001070200040000000103000004000180"),
            (.prekeyBundle, "01000107020004000000010300000400020002"),
            (.boardPost, "01000107020004000000010300000400020001"),
            (served, "0100010702000400000001030000040002a307"),
            (served.subtracting(.boardPost), "0100010702000400000001030000040002a306"),
            (nil, "0100010702000400000001030000"),
        ]
        for (types, payload) in expected {
            XCTAssertEqual(RequestSync(filter: empty, types: types).encoded(), hex(payload))
        }
        XCTAssertFalse(empty.members().contains(messages[0].packet.id))
    }

    // MARK: Chapter 04 W5, W6

    private func synthetic(_ count: UInt32) throws -> [PacketID] {
        try (0..<count).map { number in
            var bytes = [UInt8]()
            bytes.append(bigEndian: number)
            return try XCTUnwrap(PacketID(SHA256.hash(bytes).prefix(16)))
        }
    }

    func testTruncatedFilterAndCursor() throws {
        let ids = try synthetic(40)
        XCTAssertEqual(ids[0].hex, "df3f619804a92fdb4057192dc43dd748")
        XCTAssertEqual(ids[27].hex, "688e94a51ee508a95e761294afb7a600")
        let (filter, covered) = GCSFilter.build(
            newestFirst: ids.map { GCSHash($0) }, budget: 32, parameter: chunk)
        XCTAssertEqual(covered, 28)
        XCTAssertEqual(filter.modulus, 3_584)
        XCTAssertEqual(filter.data, hex("3136710b5b3c2513632b563546d2a7df2d028d97260e3af4823089cd5410"))
        let request = RequestSync(
            filter: filter, types: [.announce, .message, .groupMessage],
            since: WallTime(milliseconds: 1_700_000_100_000 - 27))
        XCTAssertEqual(
            request.encoded(),
            octets(
                """
                0100010702000400000e0003001e3136710b5b3c2513632b563546d2a7df2d028d97260e3af4823089cd5410
                04000203040500080000018bcfe6ee85
                """))
    }

    func testShippedBudget() throws {
        let hashes = try synthetic(400).map { GCSHash($0) }
        for count in [355, 356, 400] {
            let filter = GCSFilter.build(newestFirst: Array(hashes.prefix(count)), budget: 400, parameter: chunk).filter
            XCTAssertEqual(filter.modulus, 45_440)
            XCTAssertEqual(filter.data.count, 378)
            XCTAssertEqual(Array(filter.data.prefix(16)), hex("ce1afd38b64c660b63f40e1caad88d83"))
            XCTAssertEqual(
                SHA256.hash(filter.data), hex("8a5cf62828e6aac08fb69c2b79643641af9a16285ab56143fbe5b3d3764bddc0"))
        }
        let forty = GCSFilter.build(newestFirst: Array(hashes.prefix(40)), budget: 400, parameter: chunk).filter
        XCTAssertEqual(forty.modulus, 5_120)
        XCTAssertEqual(
            forty.data,
            octets(
                """
                ab1b51f04713d1ada0ccdb96e162b1c8e1ab183bd0109394ba1ebc2628fe1caa
                b66cfe1c4b01bf7558a4f4
                """))
    }

    func testFillBitsDecodeAsAMemberAtSmallP() throws {
        let hashes = try synthetic(5).map { GCSHash($0) }
        let parameter = GCSFilter.parameter(falsePositiveRate: 0.25)
        let filter = GCSFilter.build(newestFirst: hashes, budget: 400, parameter: parameter).filter
        XCTAssertEqual(hashes.map { $0.bucket(modulus: 20) }, [10, 1, 2, 10, 4])
        XCTAssertEqual(filter, GCSFilter(parameter: 2, modulus: 20, data: hex("00c8")))
        XCTAssertEqual(filter.buckets(), [1, 2, 4, 10, 11])
    }

    // MARK: Chapter 04 W7

    func testTargetedFragmentRequest() {
        let streams = [FragmentStreamID(value: 0x0011_2233_4455_66aa), FragmentStreamID(value: 0xffee_ddcc_bbaa_9988)]
        let request = RequestSync(
            filter: GCSFilter(parameter: 7, modulus: 1, data: []), types: .fragment,
            fragmentFilterText: FragmentFilter.text(streams))
        let payload = octets(
            """
            010001070200040000000103000004000120060021303031313232333334343535363661612c666665656464
            63636262616139393838
            """)
        XCTAssertEqual(request.encoded(), payload)
        XCTAssertEqual(RequestSync(payload: payload)?.fragmentFilter?.contains(streams[1]), true)
        XCTAssertEqual(RequestSync(payload: payload)?.fragmentFilter?.contains(.init(value: 0)), false)
    }
}
