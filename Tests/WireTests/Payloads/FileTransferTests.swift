import Basics
import TestSupport
import XCTest

@testable import Wire

final class FileTransferTests: XCTestCase {
    func testFilesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("files.json").run { vector in
            switch vector.kind {
            case "encode", "encode_reject":
                let file = try self.file(vector.object("file"))
                XCTAssertEqual(file.encoded(), try vector.optionalBytes("encoded"), vector.name)
            case "accept", "reject":
                let expected = try vector.optionalObject("file").map(self.file)
                XCTAssertEqual(FileTransfer(payload: try vector.bytes("payload")), expected, vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func file(_ fields: VectorCase) throws -> FileTransfer {
        FileTransfer(
            fileName: try fields.optionalString("fileName"), mimeType: try fields.optionalString("mimeType"),
            content: try fields.bytes("content"), fileSize: try fields.optionalUInt64("fileSize"))
    }

    func testContentIsBoundedInOnePieceAndInSeveral() {
        let half = [UInt8](repeating: 1, count: 524_288)
        let piece = hex("0400080000") + half
        XCTAssertEqual(FileTransfer(payload: piece + piece)?.content.count, 1_048_576)
        XCTAssertNil(FileTransfer(payload: piece + piece + hex("040000000101")))
        XCTAssertNil(FileTransfer(payload: hex("0400100001") + half + half + [0]))
        XCTAssertNil(FileTransfer(fileName: nil, mimeType: nil, content: half + half + [0], fileSize: 1).encoded())
    }

    func testMediaTypesAreOnlyTakenWithTheirOwnBeginning() {
        let beginnings: [FileMediaType: [UInt8]] = [
            .jpeg: [0xff, 0xd8, 0xff, 0xe0], .png: [0x89] + "PNG\r\n\u{1a}\n".utf8, .gif: Array("GIF89a".utf8),
            .webp: Array("RIFF0000WEBP".utf8), .wav: Array("RIFF0000WAVE".utf8), .xWav: Array("RIFF0000WAVE".utf8),
            .mpeg: [0xff, 0xfb, 0x90], .mp3: Array("ID3".utf8), .ogg: Array("OggS".utf8), .pdf: Array("%PDF-1.7".utf8),
            .mp4Audio: [UInt8](repeating: 0, count: 101), .m4a: [UInt8](repeating: 0, count: 101),
            .aac: [UInt8](repeating: 0, count: 101),
        ]
        let anythingElse = Array("MZ executable".utf8)
        for type in FileMediaType.allCases where type != .octetStream {
            XCTAssertTrue(type.matches(beginnings[type] ?? []), type.rawValue)
            XCTAssertFalse(type.matches(anythingElse), type.rawValue)
            XCTAssertFalse(type.matches([]), type.rawValue)
        }
        XCTAssertFalse(FileMediaType.m4a.matches([UInt8](repeating: 0, count: 100)))
        XCTAssertTrue(FileMediaType.octetStream.matches(anythingElse))
        XCTAssertNil(FileMediaType(rawValue: "text/html"))
    }
}
