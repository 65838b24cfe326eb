extension Launch.Configuration {
    /// The first value that is another one, in words; `nil` where all are equal.
    func difference(to other: Self) -> String? {
        guard self != other else { return nil }
        for (mine, its) in zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children) {
            let (old, new) = ("\(mine.value)", "\(its.value)")
            if old != new { return "its \(mine.label ?? "configuration") is \(old), not \(new)" }
        }
        return "its configuration is another one"
    }
}
