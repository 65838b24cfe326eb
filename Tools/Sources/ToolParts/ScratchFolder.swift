import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// A private folder that does not outlive the tool, however that ends: a shell waits for it, and
/// then removes the folder.
package struct ScratchFolder {
    package let path: String
    private let keeper: ChildProcess
    /// The keeper reads from its other end, which closes with the tool.
    private let life: Int32

    /// The terminal's signals are for the tool alone.
    private static let script = """
        trap '' HUP INT QUIT TERM
        read -r _
        for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" && exit; sleep 1; done
        """

    /// Makes it in TMPDIR or else in /tmp; nil: `errno` says why not.
    package init?() {
        let parent = Output.variable("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var name = ReportPath.bytes(parent + "/launchguard.XXXXXX").map(CChar.init(bitPattern:)) + [0]
        guard unsafe mkdtemp(&name) != nil else { return nil }
        path = unsafe name.withUnsafeBufferPointer { unsafe ReportPath.text(cString: $0.baseAddress!) }
        guard let pipe = Pipe(), let keeper = ChildProcess(script: Self.script, [path], input: pipe.reading, isApart: true) else {
            unsafe rmdir(&name)
            return nil
        }
        close(pipe.reading)
        (self.keeper, life) = (keeper, pipe.writing)
    }

    /// Removes it at once.
    package func remove() {
        close(life)
        keeper.wait()
    }
}
