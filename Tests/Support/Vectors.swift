import Foundation
import XCTest

/// A file of interoperability cases: `{"description": …, "cases": [{"name": …, "kind": …, …}]}`.
///
/// Read from `Tests/Vectors`, or from the directory named by `BITGATE_VECTORS`, so that other cases in the same schemas
/// run through the same tests.
public struct Vectors {
    public let file: String
    public let top: [String: Any]
    public let cases: [VectorCase]

    public init(_ file: String, from source: StaticString = #filePath) throws {
        self.file = file
        let url = Vectors.directory.appendingPathComponent(file)
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        guard let top = object as? [String: Any], let cases = top["cases"] as? [[String: Any]] else {
            throw VectorError.malformed("\(file): no member 'cases'")
        }
        guard !cases.isEmpty else { throw VectorError.malformed("\(file): no cases") }
        self.top = top
        self.cases = cases.enumerated().map { VectorCase(file: file, index: $0, members: $1) }
    }

    public static var directory: URL {
        if let path = ProcessInfo.processInfo.environment["BITGATE_VECTORS"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors")
    }

    /// A data file of the reference apps, which is not ours to ship. It is read in place, from the first of these
    /// folders that has it: the one that `BITGATE_UPSTREAM` names, `upstream` beside the vectors, and
    /// `shared/vectors/upstream` beside this repository, where a checkout of the specification lies. Skips the test
    /// when none has it.
    public static func upstream(_ file: String) throws -> Data {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var folders = [
            directory.appendingPathComponent("upstream"),
            root.deletingLastPathComponent().appendingPathComponent("shared/vectors/upstream"),
        ]
        if let path = ProcessInfo.processInfo.environment["BITGATE_UPSTREAM"] {
            folders.insert(URL(fileURLWithPath: path), at: 0)
        }
        guard let data = folders.lazy.compactMap({ try? Data(contentsOf: $0.appendingPathComponent(file)) }).first
        else {
            throw XCTSkip(
                "the reference apps' \(file) is in none of the folders looked in: "
                    + "set BITGATE_UPSTREAM to the one that has it"
            )
        }
        return data
    }

    /// Runs `check` on every case, reporting a thrown error as a failure of that case; an unknown kind too, unless it
    /// is another test that checks it (`SharedVectors`).
    public func run(fileID: String = #fileID, _ check: (VectorCase) throws -> Void) {
        let test = fileID.replacingOccurrences(of: "/", with: ".").replacingOccurrences(of: ".swift", with: "")
        for vector in cases {
            do {
                try check(vector)
            } catch VectorError.unknownKind(vector.kind) where isChecked(vector.kind, elsewhereThan: test) {
            } catch {
                XCTFail("\(file) \(vector.name) [\(vector.kind)]: \(error)")
            }
        }
    }

    private func isChecked(_ kind: String, elsewhereThan test: String) -> Bool {
        SharedVectors.tests[file]?.contains { $0 != test && $1.contains(kind) } ?? false
    }
}

public enum VectorError: Error {
    case malformed(String)
    case unknownKind(String)
}

/// One case. Accessors throw when a member is missing or of another type, so that a schema drift is a failure.
public struct VectorCase {
    public let file: String
    public let index: Int
    public let members: [String: Any]

    public init(file: String, index: Int, members: [String: Any]) {
        self.file = file
        self.index = index
        self.members = members
    }

    public var name: String { members["name"] as? String ?? "#\(index)" }
    public var kind: String { members["kind"] as? String ?? "" }
    /// Throw this from the `default` of a switch over kinds: a case nobody checks is a failure, not a skip.
    public var unknownKind: VectorError { .unknownKind(kind) }

    public func isNull(_ key: String) -> Bool { members[key] == nil || members[key] is NSNull }
    public func string(_ key: String) throws -> String { try member(key) }
    public func optionalString(_ key: String) throws -> String? { isNull(key) ? nil : try string(key) }
    public func bool(_ key: String) throws -> Bool { try member(key) }
    public func int(_ key: String) throws -> Int { try member(key) }
    public func optionalInt(_ key: String) throws -> Int? { isNull(key) ? nil : try int(key) }
    public func double(_ key: String) throws -> Double { try (member(key) as NSNumber).doubleValue }
    public func array(_ key: String) throws -> [Any] { try member(key) }
    public func strings(_ key: String) throws -> [String] { try member(key) }

    /// A nested object as a case of its own, so that the same accessors serve it.
    public func object(_ key: String) throws -> VectorCase {
        VectorCase(file: file, index: index, members: try member(key))
    }
    public func optionalObject(_ key: String) throws -> VectorCase? { isNull(key) ? nil : try object(key) }
    public func objects(_ key: String) throws -> [VectorCase] {
        let list: [[String: Any]] = try member(key)
        return list.map { VectorCase(file: file, index: index, members: $0) }
    }

    /// A byte string in hex.
    public func bytes(_ key: String) throws -> [UInt8] {
        try VectorCase.bytes(string(key), for: key)
    }
    public func optionalBytes(_ key: String) throws -> [UInt8]? { isNull(key) ? nil : try bytes(key) }
    public func bytesList(_ key: String) throws -> [[UInt8]] {
        try strings(key).map { try VectorCase.bytes($0, for: key) }
    }

    /// A 64-bit number in decimal text.
    public func uint64(_ key: String) throws -> UInt64 {
        if let number = members[key] as? NSNumber, !(members[key] is String) { return number.uint64Value }
        guard let value = UInt64(try string(key)) else { throw VectorError.malformed("'\(key)' is no 64-bit number") }
        return value
    }
    public func optionalUInt64(_ key: String) throws -> UInt64? { isNull(key) ? nil : try uint64(key) }

    private func member<T>(_ key: String) throws -> T {
        guard let value = members[key] as? T else {
            throw VectorError.malformed("member '\(key)' is missing or not a \(T.self)")
        }
        return value
    }

    private static func bytes(_ text: String, for key: String) throws -> [UInt8] {
        var bytes = [UInt8]()
        var digits = text.makeIterator()
        while let high = digits.next() {
            guard let low = digits.next(), let value = UInt8(String([high, low]), radix: 16) else {
                throw VectorError.malformed("'\(key)' is no hex text")
            }
            bytes.append(value)
        }
        return bytes
    }
}
