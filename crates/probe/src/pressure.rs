//! Pressure stall information from `/proc/pressure` (Documentation/accounting/psi.rst).

use crate::scan;
use observation::Resource;

/// Microseconds since boot for which tasks waited for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// At least one task waited.
    pub some_us: u64,
    /// All tasks that were not idle waited; the kernel does not say this of the CPU before 5.13.
    pub full_us: Option<u64>,
}

impl Stall {
    /// Without what the kernel writes and does not mean: for the machine as a whole it always writes zero for all
    /// tasks waiting for the CPU.
    pub fn meaningful(self, resource: Resource) -> Self {
        if resource == Resource::Cpu { Self { full_us: None, ..self } } else { self }
    }
}

/// Reads the text of one pressure file.
pub fn parse(text: &str) -> Option<Stall> {
    let total = |kind: &str| text.lines().find(|line| line.starts_with(kind)).and_then(|l| scan::keyed(l, "total"));
    Some(Stall { some_us: total("some ")?, full_us: total("full ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_totals_are_read_and_the_averages_are_not() {
        let text = "some avg10=0.19 avg60=0.08 avg300=0.09 total=5596114\nfull avg10=0.1 avg60=0 avg300=0 total=77\n";
        assert_eq!(parse(text), Some(Stall { some_us: 5_596_114, full_us: Some(77) }));
        assert_eq!(parse("some avg10=0 avg60=0 avg300=0 total=3\n"), Some(Stall { some_us: 3, full_us: None }));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_zero_that_means_nothing_is_not_observed() {
        let stall = Stall { some_us: 3, full_us: Some(0) };
        assert_eq!(stall.meaningful(Resource::Cpu).full_us, None);
        assert_eq!(stall.meaningful(Resource::Io).full_us, Some(0));
    }
}
