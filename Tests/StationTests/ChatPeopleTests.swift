import Wire
import XCTest

@testable import Station

final class ChatPeopleTests: XCTestCase {
    private var people = ChatPeople(ownName: "me")
    private let ann = PeerID(value: 0xaaaa_0000_0000_0001)
    private let lee = PeerID(value: 0xbbbb_0000_0000_0002)
    private let bob = PeerID(value: 0xcccc_0000_0000_0003)

    override func setUp() {
        people = ChatPeople(ownName: "me")
        for (peer, name) in [(ann, "ann"), (lee, "ann lee"), (bob, "bob")] {
            _ = people.meet(peer, nickname: name, isImpostor: false)
        }
    }

    func testTheLongestNameThatFitsIsMeant() {
        XCTAssertEqual(people.find("ann hi there"), .one(ann, rest: "hi there"))
        XCTAssertEqual(people.find("ann lee hi"), .one(lee, rest: "hi"))
        XCTAssertEqual(people.find("@bob  hi"), .one(bob, rest: "hi"))
        XCTAssertEqual(people.find("bob"), .one(bob, rest: ""))
        XCTAssertEqual(people.find("bobby hi"), .nobody)
        XCTAssertEqual(people.find("Bob hi"), .nobody)
        XCTAssertEqual(people.find(""), .nobody)
        XCTAssertEqual(people.find("cccc000000000003 hi"), .one(bob, rest: "hi"))
        XCTAssertEqual(people.find("bob#cccc hi"), .one(bob, rest: "hi"))
    }

    func testNamesakesMustBeToldApart() {
        XCTAssertEqual(people.meet(lee, nickname: "bob", isImpostor: false).name, "bob#bbbb")
        XCTAssertEqual(people.find("bob hi"), .several(["bob#bbbb", "bob#cccc"]))
        XCTAssertEqual(people.find("bob#cccc hi"), .one(bob, rest: "hi"))
        _ = people.lose(bob)
        XCTAssertEqual(people.find("bob hi"), .one(lee, rest: "hi"))
    }

    func testThoseHereComeBeforeThoseAway() {
        let away = PeerID(value: 0xdddd_0000_0000_0004)
        let absent = [(peer: away, nickname: "bob"), (peer: away, nickname: "zoe")]
        XCTAssertEqual(people.find("bob", absent: absent), .one(bob, rest: ""))
        XCTAssertEqual(people.find("zoe", absent: absent), .one(away, rest: ""))
        XCTAssertEqual(people.find("zoe"), .nobody)
    }

    func testNobodyPassesForThisPersonOrSomebodyTrusted() {
        XCTAssertEqual(people.name(of: bob, calledBy: "me", isImpostor: false), "me#cccc")
        XCTAssertEqual(people.name(of: bob, calledBy: "bob", isImpostor: true), "bob#cccc")
        XCTAssertEqual(people.name(of: bob, calledBy: " ", isImpostor: false), "anon#cccc")
        XCTAssertEqual(people.name(of: PeerID(value: 0x1234_0000_0000_0000)), "anon#1234")
    }
}

final class ChatCompletionTests: XCTestCase {
    private let completion = ChatCompletion(names: ["ann", "anna", "bob", "b\u{1B}[2J"])

    func testCommandsAndNamesAreCompleted() {
        XCTAssertEqual(completion.lines(beginningWith: "/f"), ["/fav ", "/fingerprint "])
        XCTAssertEqual(completion.lines(beginningWith: "/msg a"), ["/msg ann ", "/msg anna "])
        XCTAssertEqual(completion.lines(beginningWith: "/block b"), ["/block bob "])
        for nothing in ["", "hello a", "/nick a", "/msg zoe", "/msg ann hello"] {
            XCTAssertEqual(completion.lines(beginningWith: nothing), [], nothing)
        }
        XCTAssertEqual(ChatCompletion.common(["/msg ann ", "/msg anna "]), "/msg ann")
        XCTAssertEqual(ChatCompletion.common([]), "")
    }

    func testEveryCommandThatIsCompletedIsUnderstood() {
        for command in ChatHelp.commands {
            XCTAssertNotEqual(ChatCommand(command), .refused("there is no such command; /help lists them"))
        }
    }
}
