@testable import LaunchGuard
import Testing

/// The error type against the C status table.
@Suite struct ErrorTests {
    @Test(arguments: [
        (LaunchGuardError.Code.argument, "argument"), (.option, "option"), (.system, "system"), (.noDirectory, "no-directory"),
        (.notDirectory, "not-directory"), (.link, "link"), (.owner, "owner"), (.permission, "permission"),
        (.readOnly, "read-only"), (.noSpace, "no-space"), (.damaged, "damaged"), (.newer, "newer"), (.secondary, "secondary"),
        (.already, "already"), (.closed, "closed"), (.forked, "forked"), (.disabled, "disabled"), (.notFound, "not-found"),
        (.limit, "limit"), (.state, "state"), (.duplicate, "duplicate"), (.unprotected, "unprotected"), (.timeout, "timeout"),
        (.failed, "failed"), (.incomplete, "incomplete"), (.restart, "restart"), (.older, "older"), (.interrupted, "interrupted"),
    ])
    func everyCodeHasItsNameAndMessage(_ code: LaunchGuardError.Code, _ name: String) {
        #expect(code.description == name)
        #expect(!code.message.isEmpty)
    }

    @Test func theTableHasNoOtherCodes() {
        #expect(LaunchGuardError.Code(rawValue: 29).description == "unknown")
    }

    @Test func anErrorSaysWhatIsWrong() {
        let error = LaunchGuardError(.system, errno: 28)
        #expect(error.description == "system: a system call failed; errno says why (errno 28)")
        #expect(LaunchGuardError(.option, "ringBytes is 0").description == "option: ringBytes is 0")
    }

    static let durations: [(Duration, Int64)] = [
        (.zero, 0), (.seconds(5), 5000), (.milliseconds(1500), 1500), (.nanoseconds(1), 1), (.microseconds(1001), 2),
        (.nanoseconds(-1), -1), (.milliseconds(-1500), -1500), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
    ]

    @Test(arguments: durations)
    func aDurationInMilliseconds(_ duration: Duration, _ milliseconds: Int64) {
        #expect(duration.milliseconds == milliseconds)
    }
}
