import LaunchGuardPlatform

/// How many times as often something happens as before, with an interval of 99 %: a table of many
/// rows has to call chance a change only now and then.
///
/// Of `old + new` events, each is a new one by chance with the probability `newTotal / (oldTotal +
/// newTotal)`, if nothing changed: J. Przyborowski and H. Wilenski, *Homogeneity of results in
/// testing samples from Poisson series*, Biometrika 31 (1940). The interval of that probability is
/// the exact one of C. J. Clopper and E. S. Pearson, Biometrika 26 (1934).
struct RateRatio {
    var low: Double
    /// Nil: there is no bound.
    var high: Double?

    static let confidence = 0.99

    init(_ old: Int, of oldTotal: Int, _ new: Int, of newTotal: Int) {
        let share = Binomial.interval(new, of: old + new)
        let scale = Double(max(oldTotal, 1)) / Double(max(newTotal, 1))
        low = share.lowerBound / (1 - share.lowerBound) * scale
        high = share.upperBound < 1 ? share.upperBound / (1 - share.upperBound) * scale : nil
    }

    var isMore: Bool { low > 1 }
    var isLess: Bool { (high ?? .infinity) < 1 }
}

/// Shares of a number of cases.
enum Binomial {
    /// Clopper's and Pearson's interval.
    static func interval(_ count: Int, of total: Int, confidence: Double = RateRatio.confidence) -> ClosedRange<Double> {
        guard total > 0, (0...total).contains(count) else { return 0...1 }
        let tail = (1 - confidence) / 2, (k, n) = (Double(count), Double(total))
        let low = count == 0 ? 0 : solve { incompleteBeta($0, k, n - k + 1) < tail }
        let high = count == total ? 1 : solve { incompleteBeta($0, k + 1, n - k) < 1 - tail }
        return low...max(low, high)
    }

    /// "97.1": 100 is only the whole, and 0 only nothing.
    static func percent(_ share: Double) -> String {
        let tenths = share > 0 && share < 1 ? min(max(Int((share * 1000).rounded()), 1), 999) : Int(share * 1000)
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// Where a condition that holds from 0 on ends.
    private static func solve(_ holds: (Double) -> Bool) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if holds(middle) { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The regularized incomplete beta function, by Lentz's continued fraction (DLMF 8.17.22).
    private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        guard x <= (a + 1) / (a + b + 2) else { return 1 - incompleteBeta(1 - x, b, a) }
        let choices: Double = lgamma(a + b) - lgamma(a) - lgamma(b)
        let powers: Double = a * log(x) + b * log(1 - x)
        let front: Double = exp(choices + powers) / a
        let least = 1e-300
        func bounded(_ value: Double) -> Double { abs(value) < least ? least : value }
        var c = 1.0, d = 1 / bounded(1 - (a + b) * x / (a + 1))
        var fraction = d
        for m in stride(from: 1.0, through: 500, by: 1) {
            let place: Double = a + 2 * m
            let even: Double = m * (b - m) * x / ((place - 1) * place)
            let odd: Double = -(a + m) * (a + b + m) * x / (place * (place + 1))
            var step = 1.0
            for numerator in [even, odd] {
                d = 1 / bounded(1 + numerator * d)
                c = bounded(1 + numerator / c)
                step = d * c
                fraction *= step
            }
            if abs(step - 1) < 1e-12 { break }
        }
        return front * fraction
    }
}
