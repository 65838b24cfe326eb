#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel

/// The state directory: whether a program of this user can make its files there, and nobody else.
enum DirectoryCheck {
    static func findings(_ path: String) -> [Finding] {
        let links = links(in: path)
        guard let directory = FileFacts(path) else { return links + missing(path) }
        guard directory.isFolder else {
            return links + [Finding(.error, "directory.kind", "\(path) is not a directory", "move that file away, or choose another path")]
        }
        var findings = links
        if directory.owner != geteuid() {
            let severity: Finding.Severity = geteuid() == 0 ? .note : .error
            findings.append(
                Finding(
                    severity, "directory.owner", "\(path) belongs to user \(directory.owner), and this is user \(geteuid())",
                    "run the program as user \(directory.owner), or change the owner of the directory"))
        }
        if directory.mode & 0o022 != 0 {
            findings.append(
                Finding(
                    .warning, "directory.mode", "other users may write to \(path), and so replace what it holds",
                    "take the right from them: chmod go-w \(path)"))
        }
        if !FileFacts.may(W_OK | X_OK, path), errno != EROFS {
            findings.append(Finding(.error, "directory.permission", "\(path) may not be written by user \(geteuid())", "give that user the right, or choose another directory"))
        }
        for name in ["ledger.lg", "runs"] where FileFacts(path + "/" + name, followingLinks: false)?.isLink == true {
            findings.append(Finding(.error, "directory.link", "\(path)/\(name) is a symbolic link, and LaunchGuard follows none there", "remove the link"))
        }
        return findings
    }

    /// The program makes the missing parts, where it may.
    private static func missing(_ path: String) -> [Finding] {
        guard let parent = FileFacts.prefixes(of: path).last(where: { FileFacts($0) != nil }), let facts = FileFacts(parent) else { return [] }
        guard facts.isFolder else {
            return [Finding(.error, "directory.kind", "\(parent), a part of \(path), is not a directory", "move that file away, or choose another path")]
        }
        guard FileFacts.may(X_OK, parent) else {
            return [
                Finding(
                    .error, "directory.closed", "user \(geteuid()) may not enter \(parent), a part of \(path)",
                    "give that user the right (chmod +x), or choose another directory")
            ]
        }
        guard FileFacts.may(W_OK | X_OK, parent) else {
            return [
                Finding(
                    .error, "directory.missing", "\(path) is not there, and user \(geteuid()) may not make it in \(parent)",
                    "make it for that user; with systemd, StateDirectory= does")
            ]
        }
        return [Finding(.note, "directory.missing", "\(path) is not there yet", "none is needed: the program makes it at its first start")]
    }

    /// Links of other users, which could lead the program to files that it would overwrite.
    private static func links(in path: String) -> [Finding] {
        let prefixes = FileFacts.prefixes(of: path)
        return prefixes.indices.dropFirst().compactMap { index in
            guard let link = FileFacts(prefixes[index], followingLinks: false), link.isLink, link.owner != 0, link.owner != geteuid() else { return nil }
            let isLast = index == prefixes.count - 1
            guard isLast || FileFacts(prefixes[index - 1]).map({ $0.mode & 0o022 != 0 }) == true else { return nil }
            return Finding(
                .error, "directory.link", "\(prefixes[index]) is a symbolic link of user \(link.owner), which LaunchGuard does not follow",
                "name the directory that it leads to, or make the link as root")
        }
    }
}
#endif
