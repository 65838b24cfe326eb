import LaunchGuardPlatform
package import LaunchGuardReportModel

/// Folders with what is in them. No link is followed.
extension ReportPath {
    package static func isPlainFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe withCString(path) { unsafe stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    package static func makeFolder(_ path: String) -> Bool { unsafe withCString(path) { unsafe mkdir($0, 0o700) } == 0 }

    package static func enter(_ folder: String) -> Bool { unsafe withCString(folder) { unsafe chdir($0) } == 0 }

    /// The bytes that its files take on the disk.
    package static func size(ofFolder folder: String) -> Int {
        entries(of: folder).reduce(0) { $0 + ($1.isFolder ? size(ofFolder: $1.path) : Int($1.status.st_blocks) * 512) }
    }

    /// Removes all that is neither a folder nor a plain file with one name, and makes the rest
    /// readable; how many were removed.
    package static func removeAllButPlainFiles(in folder: String) -> Int {
        entries(of: folder).reduce(0) { count, entry in
            if entry.isFolder { return count + removeAllButPlainFiles(in: entry.path) }
            guard entry.status.st_mode & S_IFMT == S_IFREG, entry.status.st_nlink == 1 else {
                unsafe withCString(entry.path) { _ = unsafe unlink($0) }
                return count + 1
            }
            unsafe withCString(entry.path) { _ = unsafe chmod($0, 0o600) }
            return count
        }
    }

    private static func entries(of folder: String) -> [(path: String, status: stat, isFolder: Bool)] {
        ((try? names(in: folder)) ?? []).compactMap { name in
            var status = stat()
            let path = folder + "/" + name
            guard name != ".", name != "..", unsafe withCString(path, { unsafe lstat($0, &status) }) == 0 else { return nil }
            return (path, status, status.st_mode & S_IFMT == S_IFDIR)
        }
    }
}
