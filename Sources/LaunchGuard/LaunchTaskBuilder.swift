/// Makes the tasks of ``LaunchGuard/LaunchGuard/Launch/addTasks(_:)`` from a list with `if`,
/// `switch` and `for`.
@resultBuilder
public enum LaunchTaskBuilder {
    public static func buildExpression(_ task: LaunchTask) -> [LaunchTask] { [task] }

    public static func buildExpression(_ tasks: [LaunchTask]) -> [LaunchTask] { tasks }

    public static func buildBlock(_ parts: [LaunchTask]...) -> [LaunchTask] { parts.flatMap(\.self) }

    public static func buildOptional(_ part: [LaunchTask]?) -> [LaunchTask] { part ?? [] }

    public static func buildEither(first part: [LaunchTask]) -> [LaunchTask] { part }

    public static func buildEither(second part: [LaunchTask]) -> [LaunchTask] { part }

    public static func buildArray(_ parts: [[LaunchTask]]) -> [LaunchTask] { parts.flatMap(\.self) }

    public static func buildLimitedAvailability(_ part: [LaunchTask]) -> [LaunchTask] { part }
}
