//! CPU of the whole machine from `/proc/stat` (proc_stat(5)).

use crate::scan;

/// Where the time of one core, or of all, went since boot, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// User mode, niced or not, guests included.
    pub user: u64,
    /// The kernel, without interrupts.
    pub system: u64,
    /// Idle with I/O outstanding. The kernel calls this unreliable: it may even fall.
    pub iowait: u64,
    /// Idle.
    pub idle: u64,
    /// Interrupts, hard and soft.
    pub interrupts: u64,
    /// Wanted to run while the hypervisor ran somebody else.
    pub steal: u64,
}

impl Times {
    /// What went by while something ran on the core.
    pub fn busy(&self) -> u64 {
        self.user + self.system + self.interrupts
    }

    /// The time between two readings; a counter that fell counts as no time.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            iowait: self.iowait.saturating_sub(before.iowait),
            idle: self.idle.saturating_sub(before.idle),
            interrupts: self.interrupts.saturating_sub(before.interrupts),
            steal: self.steal.saturating_sub(before.steal),
        }
    }
}

/// The counters of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// All cores together.
    pub total: Times,
    /// Each core that is online, with its number.
    pub cores: Vec<(u32, Times)>,
    /// Switches from one task to another, all cores.
    pub context_switches: Option<u64>,
}

/// Reads the text of `/proc/stat`, whose times are in ticks of which a second has `ticks_per_s`.
pub fn parse(text: &str, ticks_per_s: u64) -> Option<Machine> {
    let mut machine = Machine::default();
    let mut lines = text.lines();
    machine.total = times(lines.next()?.strip_prefix("cpu ")?, ticks_per_s)?;
    for line in lines {
        let Some((number, rest)) = line.strip_prefix("cpu").and_then(|line| line.split_once(' ')) else { break };
        machine.cores.push((number.parse().ok()?, times(rest, ticks_per_s)?));
    }
    machine.context_switches = scan::after(text, "ctxt ");
    Some(machine)
}

fn times(fields: &str, ticks_per_s: u64) -> Option<Times> {
    let tick_ns = 1_000_000_000 / ticks_per_s.max(1);
    let mut next = scan::numbers(fields).map(|ticks| ticks * tick_ns);
    let (user, nice, system, idle) = (next.next()?, next.next()?, next.next()?, next.next()?);
    // The fields behind came with later kernels; guest time is part of user time already.
    let (iowait, irq, softirq, steal) =
        (next.next().unwrap_or(0), next.next().unwrap_or(0), next.next().unwrap_or(0), next.next().unwrap_or(0));
    Some(Times { user: user + nice, system, iowait, idle, interrupts: irq + softirq, steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  1009 20 303 40000 505 6 70 80 9 0\n\
        cpu0 504 10 151 20000 252 3 35 40 4 0\n\
        cpu2 505 10 152 20000 253 3 35 40 5 0\n\
        intr 9 0 1\nctxt 987654\nbtime 1\n";

    #[test]
    fn every_field_of_a_core_lands_in_its_place() {
        let machine = parse(STAT, 100).unwrap();
        let tick = 10_000_000;
        let expected = Times {
            user: 1029 * tick,
            system: 303 * tick,
            iowait: 505 * tick,
            idle: 40_000 * tick,
            interrupts: 76 * tick,
            steal: 80 * tick,
        };
        assert_eq!(machine.total, expected);
        assert_eq!(machine.cores.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 2], "core 1 is offline");
        assert_eq!(machine.context_switches, Some(987_654));
    }

    #[test]
    fn a_fallen_counter_is_no_time_rather_than_an_age() {
        let (now, before) = (Times { iowait: 5, ..Times::default() }, Times { iowait: 7, ..Times::default() });
        assert_eq!(now.since(&before).iowait, 0);
    }

    #[test]
    fn a_text_of_another_kind_is_not_observed() {
        assert_eq!(parse("", 100), None);
        assert_eq!(parse("cpu  1 2\n", 100), None);
    }
}
