//! Sessions that make up for a mirror, against systems that are simulated.

use super::*;
use crate::compare::cores::tests::judged;
use crate::compare::mirrors::mirrors;
use crate::point::groups;
use crate::run::tests::{level as factor, trial};
use crate::{PerTransaction, ServerSummary, TrialSummary};
use observation::Counter;
use random::Draws;

/// A system that serves transactions: times in ms.
#[derive(Clone, Copy, Debug)]
struct System {
    cores: f64,
    cpu_ms: f64,
    /// Flushes and ways, which nobody else makes longer.
    waits_ms: f64,
    /// What of it is the way to the mirror.
    wire_ms: f64,
    /// A device that serves one after the other.
    device_ms: f64,
    think_ms: f64,
    /// Whether times vary as exponential ones do, or evenly between the half of their mean and one and a half.
    varies: bool,
    /// Users who share the sessions; without them each session thinks itself.
    users: Option<u32>,
    /// Flushes of logs that each second transaction waits for, ms, and how many times the waits are longer for each session more.
    logs_ms: &'static [f64],
    locks: f64,
}

/// A server whose sessions wait for two cores and for a flush each.
const ALONE: System = System {
    cores: 2.0,
    cpu_ms: 0.4,
    waits_ms: 0.6,
    wire_ms: 0.0,
    device_ms: 0.0,
    think_ms: 0.0,
    varies: true,
    users: None,
    logs_ms: &[],
    locks: 0.0,
};

/// The share of transactions that commit a change.
const COMMITTED: f64 = 0.5;

/// Transactions of one simulation.
const TRANSACTIONS: u32 = 60_000;

impl System {
    /// Transactions a second of so many sessions: cores share themselves out among those who are ready.
    fn rate(&self, sessions: u32) -> f64 {
        if !self.logs_ms.is_empty() {
            return self.commits(sessions).rate(sessions);
        }
        let mut draws = Draws::numbered(7, u64::from(sessions));
        let mut time = |mean: f64| mean * if self.varies { draws.exponential() } else { 0.5 + draws.fraction() };
        let count = self.users.unwrap_or(sessions);
        // Who thinks, who is served by processors, who waits for something else, each with the time that is left; and who waits for a session.
        let mut thinking: Vec<f64> = (0..count).map(|_| time(self.think_ms)).collect();
        let [mut working, mut waiting, mut device] = [const { Vec::<f64>::new() }; 3];
        let mut queued = 0u32;
        let (mut now, mut ended) = (0.0, 0);
        while ended < TRANSACTIONS {
            while queued > 0 && ((working.len() + waiting.len() + device.len()) as u32) < sessions {
                queued -= 1;
                working.push(time(self.cpu_ms));
            }
            let speed = (self.cores / working.len().max(1) as f64).min(1.0);
            let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
            let first = device.first().copied().unwrap_or(f64::INFINITY);
            let step = least(&thinking).min(least(&waiting)).min(least(&working) / speed).min(first);
            now += step;
            for (all, passed) in [(&mut thinking, step), (&mut waiting, step), (&mut working, step * speed)] {
                all.iter_mut().for_each(|left| *left -= passed);
            }
            let over = |all: &mut Vec<f64>| {
                let before = all.len();
                all.retain(|left| *left > 1e-9);
                (before - all.len()) as u32
            };
            queued += over(&mut thinking);
            device.iter_mut().take(1).for_each(|left| *left -= step);
            let (worked, waited, served) = (over(&mut working), over(&mut waiting), over(&mut device));
            waiting.extend((0..worked).map(|_| time(self.waits_ms)));
            device.extend((0..waited).map(|_| time(self.device_ms)));
            thinking.extend((0..served).map(|_| time(self.think_ms)));
            ended += served;
        }
        f64::from(ended) / now * 1e3
    }

    fn commits(&self, sessions: u32) -> Commits {
        let pools = vec![Pool { demand_s: self.cpu_ms / 1e3, cores: self.cores }];
        let rest_s = self.waits_ms / 1e3 * (1.0 + self.locks * f64::from(sessions));
        Commits { pools, rest_s, share: COMMITTED, flush_s: self.logs_ms.iter().map(|ms| ms / 1e3).collect() }
    }

    /// The sessions with which that rate is there, more than so many, a part of one for a part of what it adds.
    fn needs(&self, rate: f64, from: u32) -> f64 {
        let (mut few, mut below) = (from, self.rate(from));
        loop {
            let above = self.rate(few + 1);
            if above >= rate {
                return f64::from(few) + (rate - below) / (above - below);
            }
            (few, below) = (few + 1, above);
            assert!(few < 200, "{rate} is never there");
        }
    }

    /// What a run observes of it.
    fn trial(&self, index: u32, name: &str, sessions: u32) -> TrialSummary {
        let rate = self.rate(sessions);
        let mut one = trial(index, name, index / 3, rate);
        one.label.factors.push(factor(SESSIONS, f64::from(sessions)));
        let label = &mut one.label.streams[0];
        let think = units::Nanos::from_seconds(self.think_ms / 1e3);
        (label.slots, label.think_mean, label.asks) =
            (Some(self.users.unwrap_or(sessions)), think, observation::Asks::Transactions);
        label.load = match think.0 {
            0 => format!("closed, {sessions} sessions"),
            _ => format!("{} users, some mean think time, {sessions} sessions", self.users.unwrap_or(sessions)),
        };
        let busy = rate * self.cpu_ms / 1e3;
        (one.machine.cores, one.machine.cpu_user_cores, one.machine.cpu_system_cores) =
            (Some(self.cores as u32), Some(busy), Some(0.0));
        one.generator_cpu = observation::CpuTime { user_s: 0.2 * busy * one.elapsed_s, system_s: 0.0 };
        let per_transaction = PerTransaction::default();
        let share = if self.logs_ms.is_empty() { 1.0 } else { COMMITTED };
        let flushes = self.logs_ms.first().map(|ms| [(Counter::LogSyncs, 1_000.0), (Counter::LogSyncSeconds, *ms)]);
        let flushes = flushes.into_iter().flatten().collect();
        one.server = Some(ServerSummary {
            cpu_user_cores: Some(0.7 * busy),
            cpu_system_cores: Some(0.0),
            mirror_cpu_cores: Some(0.1 * busy),
            per_transaction,
            in_sessions: crate::InSessions { busy: 0.0, per_s: rate },
            mirror: crate::MirrorWaits {
                wire_ms: Some(self.wire_ms),
                changing_per_s: Some(share * rate).filter(|_| name != "alone"),
                flush_ms: self.logs_ms.get(1).copied(),
                ..Default::default()
            },
            counters: flushes,
            ..Default::default()
        });
        one
    }
}

fn told(alone: System, mirrored: System, sessions: u32, more: u32) -> Compensation {
    let each = [
        alone.trial(0, "alone", sessions),
        mirrored.trial(0, "mirrored", sessions),
        mirrored.trial(0, "mirrored", more),
    ];
    let again = |index: u32| {
        let mut one = each[index as usize % 3].clone();
        (one.label.index, one.label.block) = (index, index / 3);
        one
    };
    found(&(0..12).map(again).collect::<Vec<_>>())
}

fn found(trials: &[TrialSummary]) -> Compensation {
    let [one] = mirrors(&groups(trials), &judged()).try_into().expect("one system with a mirror");
    one.compensations.into_iter().next().expect("sessions are varied")
}

/// Holds the prediction against what the simulation needs where the mirror leaves this share of the cores busy.
fn holds(alone: System, sessions: u32, share: f64) {
    let wanted = alone.rate(sessions);
    let cpu_ms = share * alone.cores / wanted * 1e3;
    let mirrored = System { cpu_ms, waits_ms: alone.waits_ms + 1.0, ..alone };
    let needs = mirrored.needs(wanted, sessions);
    let told = told(alone, mirrored, sessions, 2 * sessions);
    let off = told.predicted.value / needs - 1.0;
    assert!(off.abs() < 0.1, "{share} of {alone:?} busy: {} for {needs}", told.predicted.value);
}

#[test]
fn sessions_are_predicted_within_ten_percent_of_those_that_a_simulated_system_needs() {
    for (varies, sessions, think_ms) in [(true, 2, 0.0), (false, 2, 0.0), (true, 8, 5.0)] {
        let alone = System {
            cores: 2.0,
            cpu_ms: 0.4,
            waits_ms: 0.6,
            wire_ms: 0.0,
            device_ms: 0.0,
            think_ms,
            varies,
            users: None,
            ..ALONE
        };
        [0.6, 0.75, 0.85, 0.95].into_iter().for_each(|share| holds(alone, sessions, share));
        // With 64 cores nobody waits for one.
        holds(System { cores: 64.0, ..alone }, sessions, 0.02);
    }
}

/// Of three levels without and with a mirror, in four blocks.
fn swept(alone: System, mirrored: System, sessions: [u32; 3]) -> Compensation {
    let each: Vec<TrialSummary> = [(alone, "alone"), (mirrored, "mirrored")]
        .into_iter()
        .flat_map(|(system, name)| sessions.map(|sessions| system.trial(0, name, sessions)))
        .collect();
    let again = |index: u32| {
        let mut one = each[index as usize % 6].clone();
        (one.label.index, one.label.block) = (index, index / 6);
        one
    };
    found(&(0..24).map(again).collect::<Vec<_>>())
}

#[test]
fn where_sessions_wait_for_a_device_they_are_predicted_by_how_the_wait_grows_without_the_mirror() {
    for (cpu_ms, device_ms, added_ms) in [(0.2, 0.3, 0.3), (0.4, 0.4, 0.2), (0.1, 0.2, 1.0)] {
        let alone = System {
            cores: 2.0,
            cpu_ms,
            waits_ms: 0.6,
            wire_ms: 0.0,
            device_ms,
            think_ms: 0.0,
            varies: true,
            users: None,
            ..ALONE
        };
        let mirrored = System { cpu_ms: 1.3 * cpu_ms, waits_ms: 0.6 + added_ms, wire_ms: added_ms, ..alone };
        let needs = mirrored.needs(alone.rate(2), 2);
        let told = swept(alone, mirrored, [2, 3, 5]).predicted;
        let plain = self::told(alone, mirrored, 2, 5).predicted;
        assert!((told.value / needs - 1.0).abs() < 0.1, "{} for {needs} in {alone:?}", told.value);
        assert!(plain.value < told.value && told.low <= plain.value, "{plain:?} {told:?}");
    }
}

#[test]
fn users_who_share_sessions_are_predicted_as_well_and_are_told_where_they_are_the_limit() {
    let alone = System {
        cores: 4.0,
        cpu_ms: 0.4,
        waits_ms: 0.6,
        wire_ms: 0.0,
        device_ms: 0.0,
        think_ms: 20.0,
        varies: true,
        users: Some(40),
        ..ALONE
    };
    let mirrored = System { cpu_ms: 0.6, waits_ms: 1.0, ..alone };
    let needs = mirrored.needs(alone.rate(2), 2);
    let busy = told(alone, mirrored, 2, 4);
    assert!((busy.predicted.value / needs - 1.0).abs() < 0.1, "{} for {needs}", busy.predicted.value);
    // With a session for each nobody waits for one, and the way to the mirror takes of what users start.
    let far = System { waits_ms: 6.0, ..mirrored };
    let told = told(alone, far, 40, 80);
    let (limit, most) = told.short().expect("no number of sessions is enough");
    assert!(limit == SessionLimit::Users && (0.7..0.85).contains(&most), "{told:?}");
    assert!(told.says().contains("the users are the limit, who ask for at most 7"), "{}", told.says());
    assert!(
        told.more().starts_with("more sessions do not bring the rate back: its users, who think in between, ask for")
    );
}

#[test]
fn other_programs_that_keep_cores_busy_may_go_on_to_do_so_which_is_in_the_interval() {
    let (alone, mirrored) = (ALONE, System { cpu_ms: 0.6, waits_ms: 1.4, ..ALONE });
    let beside = |others: f64| {
        let each = [alone.trial(0, "alone", 2), mirrored.trial(0, "mirrored", 2), mirrored.trial(0, "mirrored", 4)];
        let trials = (0..12_u32).map(|index| {
            let mut one = each[index as usize % 3].clone();
            (one.label.index, one.label.block) = (index, index / 3);
            one.machine.cpu_user_cores = one.machine.cpu_user_cores.map(|busy| busy + others);
            one
        });
        found(&trials.collect::<Vec<_>>()).predicted
    };
    let (quiet, crowded) = (beside(0.0), beside(0.5));
    assert!(
        (crowded.value / quiet.value - 1.0).abs() < 1e-9 && crowded.high > 1.1 * quiet.high,
        "{crowded:?} {quiet:?}"
    );
    assert_eq!(beside(1.2).high, f64::INFINITY, "what is left of the cores is not enough");
}

#[test]
fn the_doubt_of_cpu_a_transaction_is_in_the_interval_which_is_open_where_the_cores_may_be_full() {
    let (alone, mirrored) = (ALONE, System { cpu_ms: 0.6, waits_ms: 1.4, ..ALONE });
    let sure = told(alone, mirrored, 2, 4).predicted;
    let vague = |by: f64| {
        let each = [alone.trial(0, "alone", 2), mirrored.trial(0, "mirrored", 2), mirrored.trial(0, "mirrored", 4)];
        let trials: Vec<TrialSummary> = (0..12)
            .map(|index: u32| {
                let mut one = each[index as usize % 3].clone();
                (one.label.index, one.label.block) = (index, index / 3);
                let server = one.server.as_mut().expect("its server");
                server.cpu_user_cores = server.cpu_user_cores.map(|cores| cores * (1.0 + by * f64::from(index / 3)));
                one
            })
            .collect();
        found(&trials)
    };
    let doubted = vague(0.1);
    assert!(doubted.predicted.high > 1.05 * sure.high && doubted.predicted.has_interval(), "{doubted:?} {sure:?}");
    let open = vague(0.45);
    assert!(open.predicted.high == f64::INFINITY && open.says().contains(" (from "), "{}", open.says());
    let cores = "by the response-time law with waits for 2 cores";
    assert!(open.says().contains(cores), "{}", open.says());
}

/// Alone, two sessions are in the flush of one of them most of the time; with a mirror they are not, and flushes grow by more than alone.
#[test]
fn commits_that_share_the_flushes_of_two_logs_are_predicted_with_them() {
    for (own_ms, mirror_ms, locks) in [(3.8, 2.9, 0.2), (2.0, 2.0, 0.0), (1.0, 3.0, 0.1)] {
        let logs_ms: &'static [f64] = Box::leak(Box::new([own_ms, mirror_ms]));
        let alone = System { logs_ms: &logs_ms[..1], waits_ms: 0.1, locks, ..ALONE };
        // Whoever waits for the mirror holds its locks.
        let mirrored = System { logs_ms, cpu_ms: 1.2 * alone.cpu_ms, ..alone };
        let needs = mirrored.needs(alone.rate(2), 2);
        let told = swept(alone, mirrored, [2, 3, 6]);
        let predicted = told.predicted;
        assert!((predicted.value / needs - 1.0).abs() < 0.1, "{} for {needs} with {logs_ms:?}", predicted.value);
        assert!(predicted.low < predicted.value && predicted.value < predicted.high, "{predicted:?}");
        assert!(
            told.flushes && told.law().ends_with("for 2 cores and for flushes that commits share"),
            "{}",
            told.law()
        );
    }
}
