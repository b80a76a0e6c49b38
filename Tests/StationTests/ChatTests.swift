import XCTest

@testable import Station

final class ChatCommandTests: XCTestCase {
    func testTextIsSaidTrimmed() {
        XCTAssertEqual(ChatCommand("  hello there \n"), .say("hello there"))
        XCTAssertEqual(ChatCommand(" \t"), .nothing)
    }

    func testCommandsAreUnderstoodInTheirUsualForms() {
        XCTAssertEqual(ChatCommand("/j u4pruy"), .join(geohash: "u4pruy"))
        XCTAssertEqual(ChatCommand("/join #u4pruy"), .join(geohash: "u4pruy"))
        XCTAssertEqual(ChatCommand("/j #mesh"), .joinMesh)
        XCTAssertEqual(ChatCommand("/who"), .who)
        XCTAssertEqual(ChatCommand("/w"), .who)
        XCTAssertEqual(ChatCommand("/bridge on"), .bridge(true))
        XCTAssertEqual(ChatCommand("/bridge off"), .bridge(false))
        XCTAssertEqual(ChatCommand("/nick Ann Lee"), .nickname("Ann Lee"))
        XCTAssertEqual(ChatCommand("/msg Ann Lee hi there"), .message("Ann Lee hi there"))
        XCTAssertEqual(ChatCommand("/m bob hi"), .message("bob hi"))
        XCTAssertEqual(ChatCommand("/fingerprint"), .fingerprint(""))
        XCTAssertEqual(ChatCommand("/fingerprint bob"), .fingerprint("bob"))
        XCTAssertEqual(ChatCommand("/verify"), .verify(""))
        XCTAssertEqual(ChatCommand("/verify bitchat://verify?v=1"), .verify("bitchat://verify?v=1"))
        XCTAssertEqual(ChatCommand("/unverify bob"), .unverify("bob"))
        XCTAssertEqual(ChatCommand("/fav bob"), .favorite("bob", true))
        XCTAssertEqual(ChatCommand("/unfav bob"), .favorite("bob", false))
        XCTAssertEqual(ChatCommand("/block bob"), .block("bob", true))
        XCTAssertEqual(ChatCommand("/unblock bob"), .block("bob", false))
        XCTAssertEqual(ChatCommand("/help"), .help)
        XCTAssertEqual(ChatCommand("/quit"), .quit)
    }

    func testWhatCannotBeDoneSaysWhy() {
        for line in [
            "/j", "/j U4PRUY", "/j aaa", "/bridge", "/bridge maybe", "/nick", "/nick a\u{200B}b", "/dance",
            "/msg", "/fav", "/unfav", "/block", "/unblock", "/unverify",
        ] {
            guard case .refused = ChatCommand(line) else {
                XCTFail(line)
                continue
            }
        }
    }
}

final class ChatLineTests: XCTestCase {
    func testEachKindOfLineIsMarked() {
        XCTAssertEqual(ChatLine.message(name: "ann", text: "hi").text, "<ann> hi")
        XCTAssertEqual(ChatLine.bridged(name: "bob#12ab", text: "hi").text, "[bridge] <bob#12ab> hi")
        XCTAssertEqual(ChatLine.channel(geohash: "u4p", name: "c#1", text: "hi").text, "[#u4p] <c#1> hi")
        XCTAssertEqual(ChatLine.personal(name: "ann", isVerified: false, text: "hi").text, "[private] <ann> hi")
        XCTAssertEqual(
            ChatLine.personal(name: "ann", isVerified: true, text: "hi").text, "[private, verified] <ann> hi")
        XCTAssertEqual(ChatLine.outgoing(number: 7, name: "ann", text: "hi").text, "[private 7 to] <ann> hi")
        XCTAssertEqual(ChatLine.notice("x").text, "* x")
        XCTAssertEqual(ChatLine.problem("x").text, "! x")
    }

    func testNoNameCanLookLikeAnotherOneWithSomethingSaid() {
        XCTAssertEqual(
            ChatLine.message(name: "ann> it is shut <bob", text: "hi").text, "<ann\\u{3E} it is shut <bob> hi")
        XCTAssertEqual(PeerName.shown(" \t"), "anon")
        XCTAssertEqual(PeerName.shown(String(repeating: "W", count: 255)), String(repeating: "W", count: 50) + "…")
        XCTAssertEqual(PeerName.shown(" ann "), "ann")
    }

    func testNoMessageCanMakeTwoLinesOrImitateAMark() {
        for line in [
            ChatLine.message(name: "a\n[bridge] <b> c", text: "x\r\ny\u{1B}[1A"), .notice("a\u{2028}b\u{85}c"),
            .bridged(name: "\u{202E}", text: "\u{0}"),
        ] {
            XCTAssertTrue(line.text.unicodeScalars.allSatisfy { TerminalText.isPrintable($0) }, line.text)
        }
    }
}
