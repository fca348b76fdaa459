//! `prony tier balance URL`: hot objects stay on the fast tier while the heat wanders.
//!
//! The one idea: each round is advice over the time since the last, weighed by what came before; every decision is a line with its
//! numbers, whether it is carried out or not.

use super::manner::{Done, Manner};
use super::sample::{Sampler, Window};
use super::times::{Known, known};
use super::{failed, open, said, size, spec, time};
use crate::args::TierBalance;
use crate::failure::Failure;
use crate::{output, run};
use advisor::{Balancer, Decided, Decision, Left, Rules, Why};
use database::tier::{Mover, Outcome, Relation};
use database::{Database, DatabaseError};
use recorder::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::{DatabaseSpec, Engine};

/// A mover rests no longer than this between two looks.
const RESTS: Duration = Duration::from_secs(5);

/// One who keeps the balance.
pub(super) struct Keeper<'a> {
    pub(super) spec: &'a DatabaseSpec,
    pub(super) database: &'a dyn Database,
    pub(super) manner: Manner,
    /// Tablespaces or folders: fast and slow.
    pub(super) spaces: [String; 2],
    pub(super) rules: Rules,
    pub(super) every: Duration,
    /// Times of both tiers with so many reads at once.
    pub(super) times: &'a dyn Fn(f64) -> Result<Known, Failure>,
}

pub(super) fn run(asked: &TierBalance) -> Result<(), Failure> {
    let (every, pay_off) = (time("--every", &asked.every)?, time("--pay-off", &asked.pay_off)?);
    let half_life = asked.half_life.as_ref().map(|text| time("--half-life", text)).transpose()?.unwrap_or(5 * every);
    let rules = Rules {
        budget: size("--budget", &asked.budget)?,
        half_life_s: half_life.as_secs_f64(),
        pay_off_s: pay_off.as_secs_f64(),
        better: 1.3,
    };
    known(&asked.tiers, 1.0)?;
    let spec = spec(&asked.place)?;
    let stop = run::listen()?;
    let manner = Manner::of(&asked.manner, stop.clone())?;
    let database = open(&spec, stop.clone())?;
    let mut sampler = Sampler::new(database.as_ref(), &spec, &asked.fast.space)?;
    let spaces = [sampler.standing.fast.clone().unwrap_or_default(), sampler.standing.slow.1.clone()];
    if spaces[0].is_empty() && !asked.manner.dry_run {
        let lacking = sampler.standing.lacking.clone();
        return Err(Failure::new(format!("balancing `{}`: there is no fast tier {}", spec.shown(), asked.fast.space))
            .hints(lacking));
    }
    if asked.manner.dry_run {
        sampler.standing.lacking.iter().for_each(|lacking| output::note_line(&format!("lacking: {lacking}")));
    } else {
        let doing = |error| failed("moving objects of", &spec, &error);
        manner.mover(database.as_ref()).and_then(|mut mover| mover.writable()).map_err(doing)?;
    }
    let times = |depth| known(&asked.tiers, depth);
    let database = database.as_ref();
    let keeper = Keeper { spec: &spec, database, manner, spaces, rules, every, times: &times };
    keeper.keep(&mut sampler, None, &stop, asked.rounds, &mut |text| output::print(text))
}

fn said_s(seconds: f64) -> String {
    units::milliseconds(1e3 * seconds)
}

/// A decision with its numbers, and what the move costs as the advice has it.
fn says(engine: Engine, one: &Decided) -> String {
    let (name, size) = (&one.one.name, units::bytes(units::Bytes(one.one.bytes as u64)));
    let heat = format!("it saves {} of wait a second", said_s(one.heat));
    let slower = match one.slower {
        times if times > 1.05 => {
            format!(", as moves took {} times as long as expected here", units::significant(times))
        }
        _ => String::new(),
    };
    let pays = said_s(one.pays_after_s) + &slower;
    let decision = match (one.decision, one.one.to_fast) {
        (Decision::Move, true) => {
            format!("move {name} ({size}) to the fast tier: {heat}; pays for itself after {pays}")
        }
        (Decision::Move, false) => format!("move {name} ({size}) back to the slow tier: {heat}, and others save more"),
        (Decision::DoesNotPay, _) => {
            format!("leave {name} ({size}): {heat}, and would pay for itself only after {pays}")
        }
    };
    format!("  {decision}\n    {}\n", said::cost(engine, &one.one.cost))
}

/// What stays slow though sessions wait for it, and why.
fn stays(left: &Left, rules: &Rules) -> String {
    let (name, size) = (&left.name, units::bytes(units::Bytes(left.bytes as u64)));
    let why = match left.why {
        Why::Held => format!("it was moved less than {} ago", said_s(rules.pay_off_s)),
        Why::TooLarge => format!("it is larger than the budget of {}", units::bytes(units::Bytes(rules.budget as u64))),
        Why::Cooler => "the budget holds what saves more for its bytes".to_owned(),
    };
    format!("  {name} ({size}) stays slow: it would save {} of wait a second, and {why}\n", said_s(left.heat))
}

impl Keeper<'_> {
    /// Decides and moves, round after round, until it is stopped or so many are over; each decision is told.
    pub(super) fn keep<'a>(
        &'a self,
        sampler: &mut Sampler,
        mut mover: Option<Mover<'a>>,
        stop: &AtomicBool,
        rounds: Option<u32>,
        tell: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut balancer = Balancer::default();
        for round in 1.. {
            let Window { looks, objects, depth, .. } = match sampler.window(self.every, 1, stop) {
                Err(_) if stop.load(Ordering::Relaxed) => return Ok(()),
                window => window?,
            };
            let known = (self.times)(depth)?;
            let (tiers, rules) = (known.tiers, &self.rules);
            let window_s = looks.last().map_or(0.0, |look| look.at_s);
            let advice = advisor::advise(objects, &looks, &tiers, Some(rules.budget), 1);
            let decided = balancer.weigh(&advice, &tiers, rules, window_s, sampler.clock.now().seconds());
            let left = balancer.left(&advice, &decided, rules);
            tell(&format!("round {round}: {}\n", said::waits(&advice, &known, window_s)))?;
            for one in &decided {
                tell(&says(self.spec.engine, one))?;
                if one.decision != Decision::Move {
                    continue;
                }
                let begun = sampler.clock.now();
                if !self.carried(one, &mut mover)? {
                    balancer.forget(&one.one.name);
                } else if !self.manner.dry_run {
                    balancer.took(&one.one, sampler.clock.now().saturating_sub(begun).seconds());
                }
            }
            for left in &left {
                tell(&stays(left, rules))?;
            }
            if self.every > RESTS {
                // Others may move meanwhile, and a server may end a session that says nothing for so long.
                mover = None;
            }
            if rounds.is_some_and(|rounds| round >= rounds) {
                break;
            }
        }
        Ok(())
    }

    /// Carries a decision out; whether the object is there now. A dry run decides as if it were, where nothing is seen to keep it away.
    fn carried<'a>(&'a self, one: &Decided, kept: &mut Option<Mover<'a>>) -> Result<bool, Failure> {
        let doing = |error| failed("moving objects of", self.spec, &error);
        let left = |outcome| {
            self.manner.tell(&Done::at_once(&one.one.name, outcome));
            Ok(false)
        };
        if self.manner.dry_run {
            return match self.hindered(one, kept) {
                Err(error) if self.manner.stopped() => Err(doing(error)),
                Err(error) => left(Outcome::Refused(error.to_string())),
                Ok(Some(outcome)) => left(outcome),
                Ok(None) => Ok(true),
            };
        }
        let mut mover = self.mover(kept).map_err(doing)?;
        let (object, space) = match self.aim(one, &mut mover).map_err(doing)? {
            Ok(aim) => aim,
            Err(outcome) => {
                *kept = Some(mover);
                return left(outcome);
            }
        };
        mover.prepare(std::slice::from_ref(&object), &self.spaces[0]).map_err(doing)?;
        let process = mover.process;
        let done = match self.manner.bring(&mut mover, &object, &space) {
            Err(error) if self.manner.stopped() => {
                self.manner.clear_away(self.spec, process)?;
                return Err(doing(error));
            }
            done => done.map_err(doing)?,
        };
        *kept = Some(mover);
        Ok(matches!(done.outcome, Outcome::Moved { .. } | Outcome::There))
    }

    fn mover<'a>(&'a self, kept: &mut Option<Mover<'a>>) -> Result<Mover<'a>, DatabaseError> {
        kept.take().map_or_else(|| self.manner.mover(self.database), Ok)
    }

    /// The object of a decision and where it goes, or what became of it since the look.
    fn aim(&self, one: &Decided, mover: &mut Mover<'_>) -> Result<Result<(Relation, String), Outcome>, DatabaseError> {
        let Some(object) = mover.find(&one.one.id, None)? else { return Ok(Err(Outcome::Gone)) };
        if one.one.to_fast {
            return Ok(Ok((object, self.spaces[0].clone())));
        }
        if object.space != self.spaces[0] {
            let now = mover.space(&object.space)?;
            return Ok(Err(Outcome::Refused(format!("somebody has moved it into {now} since the last look"))));
        }
        let home = mover.home(&object)?.unwrap_or_else(|| self.spaces[1].clone());
        Ok(Ok((object, home)))
    }

    /// What would keep an object from being moved, as far as that is seen before it is tried.
    fn hindered<'a>(&'a self, one: &Decided, kept: &mut Option<Mover<'a>>) -> Result<Option<Outcome>, DatabaseError> {
        let mut mover = self.mover(kept)?;
        let found = match self.aim(one, &mut mover)? {
            Ok((object, space)) => mover.forbidden(&object, &space)?.map(Outcome::Refused),
            Err(outcome) => Some(outcome),
        };
        *kept = Some(mover);
        Ok(found)
    }
}
