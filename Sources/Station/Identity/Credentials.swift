import Glibc

/// As whom a process goes to files: what decides over its access to them, by their modes. Access lists are not read.
struct Credentials: Equatable {
    enum Right: mode_t {
        case search = 1
        /// To connect to a socket is to write to it.
        case write = 2
        case read = 4
    }

    /// Where a way to a file ends for somebody.
    struct Barrier: Equatable {
        let path: String
        let group: gid_t
        /// Whether a member of that group would get on.
        let opensToGroup: Bool
    }

    private enum Limits {
        /// What the kernel gives a process (NGROUPS_MAX).
        static let groups: Int32 = 65_536
    }

    let user: uid_t
    let groups: Set<gid_t>

    init(user: uid_t, groups: Set<gid_t>) {
        self.user = user
        self.groups = groups
    }

    /// This process's own.
    static var own: Credentials {
        let count = max(0, getgroups(0, nil))
        var groups = [gid_t](repeating: 0, count: Int(count))
        let filled = getgroups(count, &groups)
        return Credentials(user: geteuid(), groups: Set(groups.prefix(max(0, Int(filled)))).union([getegid()]))
    }

    /// Those a new process of this user would have; nil where nobody knows the user.
    init?(ofUser user: uid_t) {
        guard let entry = getpwuid(user)?.pointee, let name = entry.pw_name else { return nil }
        var count: Int32 = 64
        var groups = [gid_t](repeating: 0, count: Int(count))
        if getgrouplist(name, entry.pw_gid, &groups, &count) < 0 {
            guard count > 0, count <= Limits.groups else { return nil }
            groups = [gid_t](repeating: 0, count: Int(count))
            guard getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else { return nil }
        }
        self.init(user: user, groups: Set(groups.prefix(max(0, Int(count)))))
    }

    /// Of the account with this name.
    static func user(named name: String) -> uid_t? { getpwnam(name)?.pointee.pw_uid }

    static func name(ofUser user: uid_t) -> String {
        getpwuid(user).flatMap { $0.pointee.pw_name }.map { String(cString: $0) } ?? "\(user)"
    }

    static func name(ofGroup group: gid_t) -> String {
        getgrgid(group).flatMap { $0.pointee.gr_name }.map { String(cString: $0) } ?? "\(group)"
    }

    /// Where the way to a file ends, on whatever its name leads to; nil where it does not, and where this process
    /// cannot see that.
    func barrier(to path: String, for right: Right) -> Barrier? {
        guard path.hasPrefix("/"), let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let names = String(cString: resolved).split(separator: "/")
        var place = ""
        for (index, name) in ([""] + names).enumerated() {
            if index > 0 { place += "/" + name }
            let part = place.isEmpty ? "/" : place
            let needed = index == names.count ? right : .search
            var info = stat()
            guard lstat(part, &info) == 0 else { return nil }
            if isDenied(needed, of: info) {
                return Barrier(
                    path: part, group: info.st_gid, opensToGroup: info.st_mode >> 3 & needed.rawValue != 0)
            }
        }
        return nil
    }

    /// By the first class that fits, as the kernel does it.
    private func isDenied(_ right: Right, of info: stat) -> Bool {
        guard user != 0 else { return false }
        let shift: mode_t = user == info.st_uid ? 6 : groups.contains(info.st_gid) ? 3 : 0
        return info.st_mode >> shift & right.rawValue == 0
    }
}
