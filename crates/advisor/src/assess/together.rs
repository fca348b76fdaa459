//! A server and its mirror on one machine, in virtual time.
//!
//! The one idea: both share processors, and often a disk. A session's loop (work, a flush that commits share, the way to the mirror, its
//! flush, the way back) is played with what was seen of the server alone, and again with the mirror. What of a loop neither processors nor
//! flushes explain is fitted, so that without a mirror the throughput that was seen comes out: only what changes is predicted.
//!
//! What it does not do: it knows no rows. Waits for locks grow as locks are held longer.

use random::Draws;

/// Transactions of one play.
const TRANSACTIONS: u64 = 4000;
/// Steps of a bisection.
const STEPS: usize = 14;
/// Rounds in which waits for locks and their holders' time settle.
const ROUNDS: usize = 5;

/// The work of the server alone. Times are seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    /// Sessions that carry it.
    pub sessions: usize,
    /// Transactions a second.
    pub rate: f64,
    /// Cores that are left to it.
    pub cores: f64,
    /// Of them, what a transaction takes.
    pub cpu_s: f64,
    /// The share of transactions that write.
    pub writes: f64,
    /// A flush of the log.
    pub flush_s: f64,
    /// What a transaction waits for locks.
    pub locked_s: f64,
    /// What it takes in the server beside that.
    pub holds_s: f64,
}

/// What sending one flush of the log to the mirror takes. Times are seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// On the way, each way.
    pub one_way_s: f64,
    /// The source's processors.
    pub source_s: f64,
    /// The mirror's before it flushes.
    pub mirror_s: f64,
    /// The wire's each way, which hold up nobody but by being busy.
    pub wire_s: f64,
    /// The mirror's behind its flush.
    pub apply_s: f64,
    /// The mirror's flush.
    pub flush_s: f64,
    /// Whether that waits for the source's flushes, and they for it.
    pub one_disk: bool,
}

/// Work that was fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitted {
    work: Work,
    /// What of a loop neither processors nor flushes explain.
    elsewhere_s: f64,
    /// The throughput that was seen over the one that is played.
    factor: f64,
}

impl Fitted {
    pub(super) fn of(work: Work) -> Fitted {
        let played = |elsewhere_s: f64| Play::new(work, elsewhere_s, work.sessions, None).rate();
        let (mut low, mut high) = (0.0, work.sessions as f64 / work.rate);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if played(middle) > work.rate { low = middle } else { high = middle }
        }
        let elsewhere_s = if played(0.0) > work.rate { f64::midpoint(low, high) } else { 0.0 };
        Fitted { work, elsewhere_s, factor: work.rate / played(elsewhere_s) }
    }

    /// The throughput of so many sessions with the mirror.
    pub(super) fn rate(&self, sessions: usize, exchange: &Exchange) -> f64 {
        let (work, sessions_now) = (self.work, self.work.sessions as f64);
        let loop_s = sessions_now / work.rate;
        let locked_s = work.locked_s.min(self.elsewhere_s);
        let mut more_s = 0.0;
        let mut rate = work.rate;
        for _ in 0..if locked_s > 0.0 { ROUNDS } else { 1 } {
            let play = Play::new(work, self.elsewhere_s + more_s, sessions, Some(*exchange));
            rate = self.factor * play.rate();
            let held_longer_s = (sessions as f64 / rate - more_s - loop_s).max(0.0);
            more_s = locked_s * held_longer_s / work.holds_s.max(1e-9);
        }
        rate
    }

    /// Sessions that bring the throughput back, up to so many; none where they do not.
    pub(super) fn compensating(&self, exchange: &Exchange, most: usize) -> Option<f64> {
        let back = |sessions: usize| self.rate(sessions, exchange) >= self.work.rate;
        let (mut few, mut many) = (self.work.sessions, most.max(self.work.sessions));
        if !back(many) {
            return None;
        }
        while few < many {
            let middle = few + (many - few) / 2;
            if back(middle) { many = middle } else { few = middle + 1 }
        }
        Some(many as f64)
    }
}

/// Where something goes on.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Cores,
    Away,
    Disk(usize),
}

/// What comes behind it; a number is that of commits.
#[derive(Clone, Copy)]
enum Then {
    Works,
    Worked,
    Flushed,
    Sent,
    Arrived(u64),
    Read,
    Held,
    Answered(u64),
    Woken(u64),
    Nothing,
}

struct Going {
    place: Place,
    left_s: f64,
    then: Then,
}

/// Commits that one process does together, and those that wait for it.
#[derive(Default)]
struct Stage {
    doing: u64,
    waiting: u64,
}

impl Stage {
    /// The next commits, if there are any and it does nothing.
    fn next(&mut self) -> bool {
        let begins = self.doing == 0 && self.waiting > 0;
        if begins {
            self.doing = std::mem::take(&mut self.waiting);
        }
        begins
    }

    fn done(&mut self) -> u64 {
        std::mem::take(&mut self.doing)
    }
}

struct Play {
    work: Work,
    elsewhere_s: f64,
    exchange: Option<Exchange>,
    draws: Draws,
    now_s: f64,
    ended: u64,
    going: Vec<Going>,
    flush: Stage,
    send: Stage,
    receive: Stage,
}

impl Play {
    fn new(work: Work, elsewhere_s: f64, sessions: usize, exchange: Option<Exchange>) -> Play {
        let mut play = Play {
            work,
            elsewhere_s,
            exchange,
            draws: Draws::numbered(0, 0),
            now_s: 0.0,
            ended: 0,
            going: Vec::new(),
            flush: Stage::default(),
            send: Stage::default(),
            receive: Stage::default(),
        };
        (0..sessions).for_each(|_| play.begins(Place::Away, elsewhere_s, Then::Works));
        play
    }

    fn rate(mut self) -> f64 {
        while self.ended < TRANSACTIONS {
            let then = self.next();
            self.goes_on(then);
        }
        self.ended as f64 / self.now_s.max(1e-12)
    }

    /// Something begins whose time varies, but on the way.
    fn begins(&mut self, place: Place, mean_s: f64, then: Then) {
        let left_s = mean_s * self.draws.exponential();
        self.going.push(Going { place, left_s, then });
    }

    fn travels(&mut self, one_way_s: f64, then: Then) {
        self.going.push(Going { place: Place::Away, left_s: one_way_s, then });
    }

    /// Time passes until something is over. Cores are shared out evenly, disks serve who came first.
    fn next(&mut self) -> Then {
        let running = self.going.iter().filter(|one| one.place == Place::Cores).count();
        let share = (self.work.cores / running.max(1) as f64).min(1.0);
        let mut taken = [false; 2];
        let speeds: Vec<f64> = self
            .going
            .iter()
            .map(|one| match one.place {
                Place::Cores => share,
                Place::Away => 1.0,
                Place::Disk(number) => f64::from(u8::from(!std::mem::replace(&mut taken[number], true))),
            })
            .collect();
        let due = self.going.iter().zip(&speeds).map(|(one, speed)| one.left_s / speed.max(1e-300));
        let (first, step_s) = due.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        self.going.iter_mut().zip(&speeds).for_each(|(one, speed)| one.left_s -= step_s * speed);
        self.now_s += step_s;
        self.going.remove(first).then
    }

    fn goes_on(&mut self, then: Then) {
        let to = self.exchange;
        match (then, to) {
            (Then::Works, _) => self.begins(Place::Cores, self.work.cpu_s, Then::Worked),
            (Then::Worked, _) if self.draws.chance(self.work.writes) => self.flush.waiting += 1,
            (Then::Worked, _) => self.end(1),
            (Then::Flushed, None) => {
                let commits = self.flush.done();
                self.end(commits);
            }
            (Then::Flushed, Some(_)) => self.send.waiting += self.flush.done(),
            (Then::Sent, Some(to)) => {
                let commits = self.send.done();
                self.travels(to.one_way_s, Then::Arrived(commits));
                self.begins(Place::Cores, to.wire_s, Then::Nothing);
            }
            (Then::Arrived(commits), _) => self.receive.waiting += commits,
            (Then::Read, Some(to)) => self.begins(Place::Disk(usize::from(!to.one_disk)), to.flush_s, Then::Held),
            (Then::Held, Some(to)) => {
                let commits = self.receive.done();
                self.travels(to.one_way_s, Then::Answered(commits));
                self.begins(Place::Cores, to.wire_s + to.apply_s, Then::Nothing);
            }
            (Then::Answered(commits), Some(to)) => self.begins(Place::Cores, to.source_s / 2.0, Then::Woken(commits)),
            (Then::Woken(commits), _) => self.end(commits),
            (Then::Nothing | Then::Sent | Then::Read | Then::Held | Then::Answered(_), _) => {}
        }
        self.stages();
    }

    fn stages(&mut self) {
        if self.flush.next() {
            self.begins(Place::Disk(0), self.work.flush_s, Then::Flushed);
        }
        let Some(to) = self.exchange else { return };
        if self.send.next() {
            self.begins(Place::Cores, to.source_s / 2.0, Then::Sent);
        }
        if self.receive.next() {
            self.begins(Place::Cores, to.mirror_s, Then::Read);
        }
    }

    fn end(&mut self, commits: u64) {
        self.ended += commits;
        (0..commits).for_each(|_| self.begins(Place::Away, self.elsewhere_s, Then::Works));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work = Work {
        sessions: 1,
        rate: 500.0,
        cores: 2.0,
        cpu_s: 2e-4,
        writes: 1.0,
        flush_s: 3e-4,
        locked_s: 0.0,
        holds_s: 5e-4,
    };
    const EXCHANGE: Exchange = Exchange {
        one_way_s: 1e-4,
        source_s: 1e-4,
        mirror_s: 1e-4,
        wire_s: 0.0,
        apply_s: 0.0,
        flush_s: 3e-4,
        one_disk: true,
    };

    fn near(a: f64, b: f64, off: f64) {
        assert!((a / b - 1.0).abs() < off, "{a} is not {b}");
    }

    #[test]
    fn one_session_that_nobody_disturbs_waits_for_the_sum_of_all_steps() {
        let fitted = Fitted::of(WORK);
        // 2 ms a loop, of which 0.5 ms are explained; the mirror adds twice 0.1 ms, 0.1 ms on either machine's side, and its flush.
        near(fitted.elsewhere_s, 1.5e-3, 0.05);
        near(fitted.rate(1, &EXCHANGE), 1.0 / 2.7e-3, 0.05);
        assert_eq!(fitted.compensating(&EXCHANGE, 64), Some(2.0));
    }

    #[test]
    fn what_was_seen_comes_out_again_whatever_it_was() {
        for (sessions, rate, cpu_s) in [(4, 3000.0, 5e-4), (8, 20_000.0, 5e-5), (64, 900.0, 1e-3), (2, 1e5, 1e-3)] {
            let fitted = Fitted::of(Work { sessions, rate, cpu_s, ..WORK });
            let nothing = Exchange { one_way_s: 0.0, source_s: 0.0, mirror_s: 0.0, flush_s: 0.0, ..EXCHANGE };
            near(fitted.rate(sessions, &nothing), rate, 0.06);
        }
    }

    #[test]
    fn cores_that_are_busy_already_are_a_limit_that_no_sessions_lift() {
        let full = Fitted::of(Work { sessions: 8, rate: 3_900.0, cpu_s: 5e-4, ..WORK });
        assert_eq!(full.compensating(&EXCHANGE, 1000), None);
        // 0.7 ms of two cores for each transaction at the least, but commits that are sent together.
        let most = full.rate(1000, &EXCHANGE);
        assert!((2_700.0..3_990.0).contains(&most), "{most}");
    }

    #[test]
    fn flushes_of_both_on_one_disk_wait_for_each_other() {
        let work = Fitted::of(Work { sessions: 4, rate: 2_500.0, cpu_s: 5e-5, ..WORK });
        let (one, two) = (work.rate(4, &EXCHANGE), work.rate(4, &Exchange { one_disk: false, ..EXCHANGE }));
        assert!(one < 0.95 * two, "{one} {two}");
    }

    #[test]
    fn locks_that_are_held_longer_are_waited_for_longer() {
        let held = Work { sessions: 4, rate: 1_000.0, locked_s: 1e-3, holds_s: 1e-3, ..WORK };
        let (with, without) = (Fitted::of(held), Fitted::of(Work { locked_s: 0.0, ..held }));
        let (slow, fast) = (with.rate(4, &EXCHANGE), without.rate(4, &EXCHANGE));
        // What is added is added to the wait for locks once more.
        near(4.0 / slow - 4e-3, 2.0 * (4.0 / fast - 4e-3), 0.25);
    }
}
