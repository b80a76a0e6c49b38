import Basics
import EventLoop
import Nostr
import Uplink
import XCTest

@testable import Station

final class HTTPFetcherTests: XCTestCase {
    private let loop = EmbeddedLoop()

    /// Streams that answer every request with the same bytes.
    private final class Server: StreamDialer {
        let loop: EmbeddedLoop
        var response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        var isolations: [StreamIsolation] = []
        var open = 0
        var mostOpen = 0

        init(_ loop: EmbeddedLoop) { self.loop = loop }

        func makeStream(
            to address: WebSocketAddress, isolation: StreamIsolation
        ) throws(StreamFailure) -> any ByteStream {
            isolations.append(isolation)
            guard address.host != "closed.example.com" else { throw .routeUnavailable("not now") }
            open += 1
            mostOpen = max(mostOpen, open)
            return Stream(self)
        }

        final class Stream: ByteStream {
            weak var delegate: (any ByteStreamDelegate)?
            var interest: IOInterest = [] { didSet { if interest.contains(.read) { tell() } } }
            private let server: Server
            private var unread: ArraySlice<UInt8>

            init(_ server: Server) {
                self.server = server
                unread = Array(server.response.utf8)[...]
            }

            func open() { server.loop.enqueue { [self] in delegate?.streamOpened() } }
            private func tell() { server.loop.enqueue { [self] in delegate?.streamReady(.read) } }

            func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
                guard !unread.isEmpty else { return .end }
                let count = min(buffer.count, unread.count)
                buffer.copyBytes(from: unread.prefix(count))
                unread = unread.dropFirst(count)
                return .bytes(count)
            }

            func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer { .bytes(bytes.count) }
            func finishWriting() {}
            func close() { server.open -= 1 }
        }
    }

    private func url(_ host: String) throws -> NostrRelayURL { try XCTUnwrap(NostrRelayURL("wss://" + host)) }

    func testDocumentsComeAFewAtATimeEachOverItsOwnCircuit() throws {
        let server = Server(loop)
        let fetcher = HTTPFetcher(loop: loop, dialer: server)
        var documents: [[UInt8]] = []
        for index in 0..<20 {
            fetcher.fetch(
                try url("r\(index).example.com"), as: .information, accept: nil, limit: 100, timeout: .seconds(5)
            ) { documents.append((try? $0.get()) ?? []) }
        }
        loop.advance(by: .seconds(1))
        XCTAssertEqual(documents, Array(repeating: Array("{}".utf8), count: 20))
        XCTAssertEqual(server.mostOpen, FetchLimits.atOnce)
        XCTAssertEqual(Set(server.isolations).count, 20)
    }

    func testFailuresAreToldAndTheNextIsServed() throws {
        let server = Server(loop)
        let fetcher = HTTPFetcher(loop: loop, dialer: server)
        var failures: [String] = []
        func fetch(_ host: String) throws {
            fetcher.fetch(try url(host), as: .directory, accept: nil, limit: 100, timeout: .seconds(5)) { result in
                if case .failure(let failure) = result { failures.append(failure.text) }
            }
            loop.advance(by: .seconds(1))
        }
        for _ in 0..<6 { try fetch("closed.example.com") }
        XCTAssertEqual(failures.count, 6)
        XCTAssertTrue(failures.allSatisfy { $0.contains("not now") }, "\(failures)")
        server.response = "HTTP/1.1 302 Found\r\nLocation: https://x/\r\n\r\n"
        try fetch("r.example.com")
        XCTAssertEqual(failures.last, "the server answered HTTP 302")
        server.response = "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + String(repeating: "x", count: 101)
        try fetch("r.example.com")
        XCTAssertEqual(failures.count, 8, "too long")
    }

    func testNothingComesAfterTheStop() throws {
        let fetcher = HTTPFetcher(loop: loop, dialer: Server(loop))
        for _ in 0..<6 {
            fetcher.fetch(
                try url("r.example.com"), as: .directory, accept: nil, limit: 100, timeout: .seconds(5)
            ) { _ in XCTFail("stopped") }
        }
        fetcher.stop()
        loop.advance(by: .seconds(1))
    }
}
