//! A value with the interval that it lies in.

/// A value between two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The lower end.
    pub low: f64,
    /// The value.
    pub value: f64,
    /// The upper end.
    pub high: f64,
}

impl Span {
    /// One with these ends.
    pub const fn new(low: f64, value: f64, high: f64) -> Span {
        Span { low, value, high }
    }

    /// One that is known.
    pub const fn exact(value: f64) -> Span {
        Span { low: value, value, high: value }
    }

    /// As wide as both, with the value of this.
    #[must_use]
    pub fn or(self, other: Span) -> Span {
        Span { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Span) -> Span {
        Span::new(self.low + other.low, self.value + other.value, self.high + other.high)
    }

    /// So many times it; the factor is not negative.
    #[must_use]
    pub fn times(self, factor: f64) -> Span {
        self.by(Span::exact(factor))
    }

    /// The product of two that are not negative.
    #[must_use]
    pub fn by(self, other: Span) -> Span {
        Span::new(self.low * other.low, self.value * other.value, self.high * other.high)
    }

    /// What falls as this grows: the ends change places.
    #[must_use]
    pub fn falling(self, f: impl Fn(f64) -> f64) -> Span {
        Span::new(f(self.high), f(self.value), f(self.low))
    }
}
