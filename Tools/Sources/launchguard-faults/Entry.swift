// Rows of the catalogue, in Swift.

import CLaunchGuard
import CLaunchGuardFaults
import Glibc

/// The signal of a trap of the compiler or the standard library.
#if arch(arm64)
let trapSignal = SIGTRAP
#else
let trapSignal = SIGILL
#endif

/// Without optimisation the standard library prints the reason for a trap; with it mostly not.
#if DEBUG
let optimized = false
#else
let optimized = true
#endif

extension StaticString {
    var c: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

/// The right outcome.
struct Expected {
    var entry = lgf_entry()

    /// A crash with a whole record.
    static func crash(_ signal: Int32, _ kinds: lg_crash_kind..., message: StaticString? = nil, address: lgf_address) -> Expected {
        var expected = Expected()
        expected.entry.status = LGF_SIGNAL
        expected.entry.number = signal
        expected.entry.record = LGF_RECORD_FULL
        expected.entry.address = address
        expected.entry.ends = 1 << LG_END_CRASH.rawValue
        expected.entry.launch = CChar(UInt8(ascii: "Y"))
        expected.entry.message = message?.c
        withUnsafeMutableBytes(of: &expected.entry.kinds) { bytes in
            let slots = bytes.bindMemory(to: lg_crash_kind.self)
            for (index, kind) in kinds.prefix(slots.count).enumerated() { slots[index] = kind }
        }
        return expected
    }

    /// A trap with a reason in every build.
    static func trap(_ kind: lg_crash_kind, message: StaticString) -> Expected {
        crash(trapSignal, kind, message: message, address: LGF_ADDRESS_YES)
    }

    /// Weighed like an exit with a status: an option decides whether it counts.
    static func topLevelError(message: StaticString) -> Expected {
        var expected = trap(LG_CRASH_TRAP_SWIFT_TOP_LEVEL, message: message)
        expected.entry.launch = CChar(UInt8(ascii: "W"))
        return expected
    }

    /// A trap with a reason only without optimisation.
    static func debugTrap(_ kind: lg_crash_kind, message: StaticString) -> Expected {
        optimized ? silentTrap : trap(kind, message: message)
    }

    /// A trap without a reason.
    static var silentTrap: Expected {
        crash(trapSignal, LG_CRASH_ILLEGAL, LG_CRASH_TRAP_SWIFT, address: LGF_ADDRESS_YES)
    }

    /// The runtime ends the process.
    static func abort(_ kind: lg_crash_kind, message: StaticString) -> Expected {
        crash(SIGABRT, kind, message: message, address: LGF_ADDRESS_NO)
    }

    /// The begin of the sentence that its report begins with.
    func sentence(_ sentence: StaticString) -> Expected {
        var expected = self
        expected.entry.sentence = sentence.c
        return expected
    }

    static var overflow: Expected { crash(SIGSEGV, LG_CRASH_STACK_OVERFLOW, address: LGF_ADDRESS_YES) }

    static var clean: Expected {
        var expected = Expected()
        expected.entry.status = LGF_EXIT
        expected.entry.record = LGF_RECORD_NONE
        expected.entry.ends = 1 << LG_END_CLEAN.rawValue
        expected.entry.launch = CChar(UInt8(ascii: "N"))
        return expected
    }

    /// SIGKILL, which nothing inside the process sees.
    static var killed: Expected {
        var expected = Expected()
        expected.entry.status = LGF_SIGNAL
        expected.entry.number = SIGKILL
        expected.entry.record = LGF_RECORD_NONE
        expected.entry.ends = 1 << LG_END_UNKNOWN.rawValue | 1 << LG_END_KILLED.rawValue
        expected.entry.launch = CChar(UInt8(ascii: "W"))
        return expected
    }

    /// SIGKILL when a hang was marked, where one can be.
    static var hung: Expected {
        var expected = killed.lasting(5000)
        expected.entry.ends |= 1 << LG_END_HANG.rawValue
        return expected
    }

    /// It takes so long to end.
    func lasting(_ milliseconds: UInt32) -> Expected {
        var expected = self
        expected.entry.lasts_ms = milliseconds
        return expected
    }

    /// Any outcome.
    static var anything: Expected {
        var expected = Expected()
        expected.entry.status = LGF_ANY
        expected.entry.record = LGF_RECORD_ANY
        expected.entry.launch = CChar(UInt8(ascii: "W"))
        return expected
    }
}

func add(
    _ name: StaticString, _ summary: StaticString, _ expected: Expected, ownThreads: Bool = false, run: @convention(c) () -> Void
) {
    var entry = expected.entry
    entry.name = name.c
    entry.section = CChar(UInt8(ascii: "F"))
    entry.language = ("Swift" as StaticString).c
    entry.summary = summary.c
    entry.run = run
    entry.traits = ownThreads ? LGF_OWN_THREADS.rawValue : 0
    lgf_add(&entry)
}

/// 0, which the compiler does not know.
var zero: Int { Int(lgf_read_zero()) }
