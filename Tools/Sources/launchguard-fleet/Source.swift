import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// A source that a person names for collection.
enum Source {
    /// Its state directories, of a tarball once that is unpacked.
    static func directories(in argument: String) throws -> [StateDirectory] {
        let unpacked = try Tarball.unpack(argument)
        let path = unpacked ?? argument
        guard try ReportPath.isFolder(path) == true else {
            let words = try ReportPath.isFolder(path) == nil ? "there is no such file" : "it is neither a folder nor a tarball (.tar, .tar.gz, .tar.xz, .tar.zst, .tar.bz2)"
            Output.complain("\(argument): \(words)")
            throw ExitStatus.nothingFound.code
        }
        let directories = StateDirectory.all(in: path, levels: unpacked == nil ? 6 : 16)
        guard !directories.isEmpty else {
            Output.complain("\(argument): it holds no state directory, which has a ledger.lg or run files in runs")
            throw ExitStatus.nothingFound.code
        }
        return directories
    }

    /// How the device is called where nothing better is known.
    static func named(_ argument: String) -> DeviceBook.Source {
        if let tarball = Tarball.path(in: argument) {
            let name = lastPart(tarball)
            let plain = Tarball.suffixes.filter(name.hasSuffix).max { $0.count < $1.count }.map { String(name.dropLast($0.count)) }
            return .init(name: plain ?? name, path: argument)
        }
        return .init(name: lastPart(whole(argument) ?? argument), path: argument)
    }

    private static func lastPart(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func whole(_ path: String) -> String? {
        guard let real = unsafe ReportPath.withCString(path, { unsafe realpath($0, nil) }) else { return nil }
        defer { unsafe free(real) }
        return unsafe ReportPath.text(cString: real)
    }
}
