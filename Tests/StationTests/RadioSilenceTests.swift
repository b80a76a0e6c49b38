import EventLoop
import Glibc
import Radio
import XCTest

@testable import Station

/// What takes a box off the air that has no radio of its own: after a kill, the kernel advertises on.
final class RadioSilenceTests: XCTestCase {
    func testAdvertisementsScanAndControllerAreSwitchedOffWhoeverSwitchedThemOn() throws {
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends), 0)
        let kernel = FileDescriptor(owning: ends[1])
        RadioSilence.impose(on: [0, 3], open: { .success(FileDescriptor(owning: ends[0])) })
        var heard: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 64)
        while case let count = recv(kernel.raw, &buffer, buffer.count, 0), count > 0 {
            heard.append(Array(buffer.prefix(count)))
        }
        // mgmt-api: code, controller and length, little-endian; then the parameters.
        XCTAssertEqual(
            heard,
            [UInt8(0), 3].flatMap {
                [[0x3f, 0, $0, 0, 1, 0, 0], [0x24, 0, $0, 0, 1, 0, 6], [0x05, 0, $0, 0, 1, 0, 0]] as [[UInt8]]
            })
    }

    func testOnlyControllersThatMayBeOursAreSilenced() {
        func silenced(_ adapters: [AdapterChoice]) -> [UInt16] {
            RadioSilence.controllers(of: adapters, among: [0, 1, 2])
        }
        XCTAssertEqual(silenced([]), [0, 1, 2])
        XCTAssertEqual(silenced([.index(1), .index(7)]), [1])
        let address = BluetoothAddress(value: 5, kind: .public)
        XCTAssertEqual(silenced([.index(1), .address(address)]), [0, 1, 2], "it may be any")
        RadioSilence.impose(on: [0], open: { .failure(SystemError("socket", code: EAFNOSUPPORT)) })
        RadioSilence.impose(on: [], open: { fatalError("nothing is opened for nobody") })
    }
}
