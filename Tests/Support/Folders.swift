import Foundation

/// A new directory of mode 0700; whoever makes it removes it.
public func makeFolder(for purpose: String = "test") throws -> String {
    var template = Array("/tmp/bitgate-\(purpose)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
