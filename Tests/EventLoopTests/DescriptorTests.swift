import Basics
import EventLoop
import Glibc
import TestSupport
import XCTest

final class DescriptorTests: XCTestCase {
    private var folder = ""

    override func setUpWithError() throws {
        folder = try makeFolder(for: "fd")
    }

    override func tearDown() {
        unlink(folder + "/s")
        rmdir(folder)
    }

    func testDescriptorClosesWithItsOwner() {
        var raw: Int32 = -1
        do {
            let owner = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
            raw = owner.raw
            XCTAssertGreaterThanOrEqual(fcntl(raw, F_GETFD), 0)
        }
        XCTAssertEqual(fcntl(raw, F_GETFD), -1)
    }

    func testClosingTwiceClosesOnce() {
        let owner = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        owner.close()
        XCTAssertFalse(owner.isOpen)
        let other = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        owner.close()
        XCTAssertGreaterThanOrEqual(fcntl(other.raw, F_GETFD), 0, "the number is somebody else's by now")
    }

    func testSocketsNeitherBlockNorReachChildren() throws {
        let listening = try UnixSocket.listen(.messages, at: folder + "/s")
        let client = try UnixSocket.connect(.messages, to: folder + "/s")
        let server = try XCTUnwrap(try listening.accept())
        for end in [listening, client, server] {
            XCTAssertNotEqual(fcntl(end.raw, F_GETFL) & O_NONBLOCK, 0)
            XCTAssertNotEqual(fcntl(end.raw, F_GETFD) & FD_CLOEXEC, 0)
        }
        XCTAssertNil(try listening.accept())
        var buffer = [UInt8](repeating: 0, count: 8)
        XCTAssertEqual(buffer.withUnsafeMutableBytes { server.read(into: $0) }, .wouldBlock)
        XCTAssertEqual([1, 2, 3].map(UInt8.init).withUnsafeBytes { client.send($0) }, .bytes(3))
        XCTAssertEqual(buffer.withUnsafeMutableBytes { server.read(into: $0) }, .bytes(3))
        client.close()
        XCTAssertEqual(buffer.withUnsafeMutableBytes { server.read(into: $0) }, .end)
        guard case .failed(let error) = buffer.withUnsafeBytes({ server.send($0) }) else {
            return XCTFail("sending to nobody must fail, not raise SIGPIPE")
        }
        XCTAssertEqual(error.code, EPIPE)
    }

    func testErrorsNameTheCallThePathAndTheReason() throws {
        XCTAssertThrowsError(try UnixSocket.connect(.messages, to: folder + "/s")) {
            XCTAssertEqual("\($0)", "\(folder)/s: connect: No such file or directory")
        }
        let long = folder + "/" + String(repeating: "x", count: 108)
        XCTAssertThrowsError(try UnixSocket.listen(.stream, at: long)) {
            XCTAssertEqual(($0 as? SystemError)?.code, ENAMETOOLONG)
        }
        XCTAssertThrowsError(try UnixSocket.listen(.stream, at: "")) {
            XCTAssertEqual(($0 as? SystemError)?.code, EINVAL)
        }
        let first = try UnixSocket.listen(.stream, at: folder + "/s")
        XCTAssertThrowsError(try UnixSocket.listen(.stream, at: folder + "/s")) {
            XCTAssertEqual(($0 as? SystemError)?.code, EADDRINUSE)
        }
        first.close()
        XCTAssertThrowsError(try UnixSocket.connect(.stream, to: folder + "/s")) {
            XCTAssertEqual(($0 as? SystemError)?.code, ECONNREFUSED, "a file nobody answers on")
        }
    }

    func testListenerAcceptsUntilClosed() throws {
        let loop = try LibeventLoop()
        loop.schedule(after: .seconds(20)) { loop.stop() }
        var accepted: [FileDescriptor] = []
        let listener = SocketListener(loop: loop, socket: try UnixSocket.listen(.stream, at: folder + "/s")) {
            accepted.append($0)
            if accepted.count == 3 { loop.stop() }
        }
        let clients = try (0..<3).map { _ in try UnixSocket.connect(.stream, to: folder + "/s") }
        loop.run()
        XCTAssertEqual(accepted.count, clients.count)
        listener.close()
        XCTAssertThrowsError(try UnixSocket.connect(.stream, to: folder + "/s"))
    }

    func testListenerRestsWhenDescriptorsRunOutInsteadOfSpinning() throws {
        let loop = try LibeventLoop()
        var accepted: [FileDescriptor] = []
        let listener = SocketListener(loop: loop, socket: try UnixSocket.listen(.stream, at: folder + "/s")) {
            accepted.append($0)
        }
        let client = try UnixSocket.connect(.stream, to: folder + "/s")
        var limit = rlimit()
        XCTAssertEqual(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit), 0)
        var none = limit
        none.rlim_cur = 0
        XCTAssertEqual(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none), 0)
        loop.schedule(after: .milliseconds(20)) { loop.stop() }
        loop.run()
        XCTAssertEqual(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit), 0)
        XCTAssertEqual(accepted.count, 0)
        XCTAssertLessThan(loop.turns, 10)
        listener.close()
        withExtendedLifetime(client) {}
    }
}
