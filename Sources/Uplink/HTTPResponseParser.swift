import Basics

/// An HTTP/1.1 response to a GET as it arrives (RFC 9112): everything bounded, anything ambiguous refused.
struct HTTPResponseParser {
    enum Outcome: Equatable {
        case incomplete
        case complete
        case failed(HTTPFailure)
    }

    private enum Stage {
        case head
        case body(left: Int)
        /// The body ends with the connection.
        case bodyUntilEnd
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailer
        case complete
        case failed(HTTPFailure)
    }

    private let bodyLimit: Int
    private var stage = Stage.head
    /// Of the head, or of one line between chunks.
    private var line: [UInt8] = []
    private var interimHeads = 0
    /// Bytes that chunking takes beside the body.
    private var overhead = 0
    private(set) var head: HTTPResponseHead?
    private(set) var body: [UInt8] = []

    /// - Parameter bodyLimit: a longer body fails, as soon as that is known.
    init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    mutating func receive(_ bytes: ArraySlice<UInt8>) -> Outcome {
        var rest = bytes
        while !rest.isEmpty {
            switch stage {
            case .complete: return .complete
            case .failed(let failure): return .failed(failure)
            case .head, .chunkSize, .chunkEnd, .trailer: takeLine(&rest)
            case .body(let left): stage = take(left, &rest).map { .body(left: $0) } ?? .complete
            case .chunk(let left): stage = take(left, &rest).map { .chunk(left: $0) } ?? .chunkEnd
            case .bodyUntilEnd:
                if rest.count > bodyLimit - body.count { fail(.tooLong(limit: bodyLimit)) } else { body += rest }
                if case .bodyUntilEnd = stage { rest = [] }
            }
        }
        return outcome
    }

    /// The connection has ended properly.
    mutating func finish() -> Outcome {
        switch stage {
        case .bodyUntilEnd, .complete: return .complete
        case .failed(let failure): return .failed(failure)
        default: return .failed(.truncated)
        }
    }

    private var outcome: Outcome {
        switch stage {
        case .complete: .complete
        case .failed(let failure): .failed(failure)
        default: .incomplete
        }
    }

    private mutating func fail(_ failure: HTTPFailure) { stage = .failed(failure) }

    /// Takes up to `left` bytes of the body. Lengths are checked against the limit when they are announced.
    /// - Returns: how many are still to come; nil for none.
    private mutating func take(_ left: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        let taken = rest.prefix(left)
        body += taken
        rest = rest.dropFirst(taken.count)
        return taken.count == left ? nil : left - taken.count
    }

    // MARK: Lines

    /// Takes bytes up to the next line feed, and what the line means once it is there.
    private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) {
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        let part = end.map { rest[...$0] } ?? rest
        let isHead = if case .head = stage { true } else { false }
        let limit = isHead ? UplinkLimits.headerBytes : UplinkLimits.chunkLineBytes
        guard part.count <= limit - line.count else { return fail(.malformed) }
        line += part
        rest = rest[part.endIndex...]
        guard end != nil else { return }
        if isHead { return headMayBeComplete() }
        overhead += line.count
        guard line.count >= 2, line[line.count - 2] == UInt8(ascii: "\r"), overhead <= UplinkLimits.chunkOverhead else {
            return fail(.malformed)
        }
        let text = line.dropLast(2)
        line.removeAll(keepingCapacity: true)
        switch stage {
        case .chunkSize: beginChunk(text)
        case .chunkEnd: if text.isEmpty { stage = .chunkSize } else { fail(.malformed) }
        default: if text.isEmpty { stage = .complete }
        }
    }

    private mutating func headMayBeComplete() {
        guard line.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
        guard let head = HTTPResponseHead(line.dropLast(4)) else { return fail(.malformed) }
        line = []
        if (100..<200).contains(head.status), head.status != 101 {
            interimHeads += 1
            return interimHeads > UplinkLimits.interimHeads ? fail(.malformed) : ()
        }
        self.head = head
        begin(head)
    }

    /// How long the body is (RFC 9112 §6.3).
    private mutating func begin(_ head: HTTPResponseHead) {
        guard (200..<300).contains(head.status) else { return fail(.status(head.status)) }
        let encodings = head.tokens("transfer-encoding")
        let lengths = head.values("content-length")
        guard head.tokens("content-encoding").allSatisfy({ $0 == "identity" }) else { return fail(.malformed) }
        if head.status == 204 {
            stage = .complete
        } else if !encodings.isEmpty {
            guard encodings == ["chunked"], lengths.isEmpty, head.isVersion11 else { return fail(.malformed) }
            stage = .chunkSize
        } else if let text = lengths.first {
            guard lengths.count == 1, let length = HTTPResponseParser.decimal(text) else { return fail(.malformed) }
            guard length <= bodyLimit else { return fail(.tooLong(limit: bodyLimit)) }
            stage = length == 0 ? .complete : .body(left: length)
        } else {
            stage = .bodyUntilEnd
        }
    }

    private mutating func beginChunk(_ line: ArraySlice<UInt8>) {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard (1...8).contains(digits.count), let size = HTTPResponseParser.hexadecimal(digits) else {
            return fail(.malformed)
        }
        guard size <= bodyLimit - body.count else { return fail(.tooLong(limit: bodyLimit)) }
        stage = size == 0 ? .trailer : .chunk(left: size)
    }

    /// Nothing but digits, and few enough not to overflow; more of them are too long in any case.
    private static func decimal(_ text: String) -> Int? {
        let digits = text.utf8
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.count > 15 ? .max : Int(text)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
