import Basics
import Foundation
import TestSupport
import XCTest

@testable import Station

/// Whether the clock is synchronised, where the service may not ask the kernel.
final class TimesyncMarkTests: XCTestCase {
    func testAMarkCountsForTwoHoursFromWhenItWasTouched() throws {
        let folder = try makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let mark = TimesyncMark(path: folder + "/synchronized")
        let touched = WallTime(milliseconds: 1_800_000_000_000)
        func fresh(_ offset: Int64) -> Bool {
            mark.isFresh(at: WallTime(milliseconds: UInt64(Int64(touched.milliseconds) + offset)))
        }
        XCTAssertFalse(fresh(0), "there is none")
        XCTAssertTrue(FileManager.default.createFile(atPath: mark.path, contents: nil))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_800_000_000)], ofItemAtPath: mark.path)
        XCTAssertTrue(fresh(0))
        XCTAssertTrue(fresh(2 * 3_600_000 - 1))
        XCTAssertFalse(fresh(2 * 3_600_000))
        XCTAssertFalse(fresh(-1), "the clock was set back since")
    }
}
