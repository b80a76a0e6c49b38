import Basics
import Gateway
import Mesh
import Nostr
import Wire

/// The operator at the bulletin board (chapter 04 §11.5, §11.6).
extension Station {
    var boardReport: BoardReport {
        let now = now
        func seconds(_ from: WallTime, _ to: WallTime) -> Int {
            to > from ? Int(clamping: to.milliseconds - from.milliseconds) / 1_000 : 0
        }
        let pinned = mesh.boardPosts(at: now)
        let copies = switchboard.notes?.boardCopies(at: now) ?? []
        func state(_ post: [UInt8]) -> BoardCopyState? {
            if switchboard.notes?.isMakingCopy(of: post) ?? false { return .beingMade }
            guard let copy = copies.first(where: { $0.boardPost == post }) else { return nil }
            if copy.isRefused { return .refused }
            return uplink.durable.publications.isWaiting(PublicationKey(hashing: copy.id.bytes)) ? .waiting : .published
        }
        let posts = pinned.map { post in
            BoardReport.Post(
                id: Hex.encode(post.postID), name: post.authorNickname, text: post.content,
                place: post.geohash.isEmpty ? nil : post.geohash, ageSeconds: seconds(post.createdAt, now.wall),
                leftSeconds: seconds(now.wall, post.expiresAt), urgent: post.isUrgent, own: mesh.isOwn(post),
                copy: mesh.isOwn(post) ? state(post.postID) : nil)
        }
        let displaced = copies.filter { copy in !pinned.contains { mesh.isOwn($0) && $0.postID == copy.boardPost } }
            .map { copy in
                BoardReport.Post(
                    id: Hex.encode(copy.boardPost), name: configuration.nickname(for: mesh.me), text: copy.text,
                    place: copy.geohash, ageSeconds: seconds(copy.postedAt, now.wall),
                    leftSeconds: seconds(now.wall, copy.expiresAt), urgent: false, own: true,
                    copy: state(copy.boardPost), displaced: true)
            }
        return BoardReport(posts: posts + displaced)
    }

    func postOnBoard(_ argument: String?) throws(ControlError) -> BoardReport {
        guard let request = argument.flatMap({ BoardRequest(argument: $0) }) else {
            throw ControlError(
                code: ControlError.malformed,
                message: "no post: 1 to \(BoardPost.contentSizes.upperBound) bytes for 1 to 7 days, at a lower-case "
                    + "geohash or none")
        }
        if request.isCopied {
            guard switchboard.notes?.hasRoom ?? false, uplink.durable.publications.hasRoom else {
                throw ControlError(
                    code: "refused",
                    message: "not pinned: too much waits for relays to take a copy; --here-only pins it without one")
            }
        }
        try atBoard { (now) throws(BoardRefusal) in
            let post = try mesh.post(
                onBoard: request.text, geohash: request.place ?? "", days: request.days, isUrgent: request.isUrgent,
                at: now)
            guard request.isCopied, let place = request.place else { return }
            _ = switchboard.notes?.post(
                post.content, at: place, nickname: post.authorNickname, expiresAt: post.expiresAt,
                isUrgent: post.isUrgent, work: uplink.work(for: place), copyOf: post.postID, at: now)
        }
        return boardReport
    }

    func removeFromBoard(_ argument: String?) throws(ControlError) -> BoardReport {
        guard let id = argument.flatMap({ Hex.decode($0) }) else {
            throw ControlError(code: ControlError.malformed, message: "no ID of a post: bitgate board lists them")
        }
        try atBoard { (now) throws(BoardRefusal) in
            do throws(BoardRefusal) {
                _ = try mesh.remove(fromBoard: id, at: now)
            } catch {
                // The board has evicted the post, but relays still have its copy.
                guard error == .unknownPost, switchboard.notes?.delete(copyOf: id, at: now) ?? false else {
                    throw error
                }
                return
            }
            switchboard.notes?.delete(copyOf: id, at: now)
        }
        return boardReport
    }

    private func atBoard(_ body: (Now) throws(BoardRefusal) -> Void) throws(ControlError) {
        let refusal = switchboard.perform { now -> BoardRefusal? in
            do throws(BoardRefusal) {
                try body(now)
                return nil
            } catch {
                return error
            }
        }
        switch refusal {
        case .text: throw ControlError(code: "refused", message: "there is no text")
        case .geohash: throw ControlError(code: "refused", message: "that is no place")
        case .notNow:
            throw ControlError(code: "refused", message: "the clock is not known to be right: bitgate clock tells")
        case .tooMany:
            throw ControlError(
                code: "refused",
                message: "not pinned: \(BoardLimits.postsPerAuthor) posts of this box are, as many as a board keeps of "
                    + "one author; remove one first")
        case .unknownPost: throw ControlError(code: "refused", message: "this box has pinned no such post")
        case nil: break
        }
    }
}
