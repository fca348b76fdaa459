//! How a database and its mirror stood in a trial, phase by phase.
//!
//! The one idea: whoever looked after them kept a state and three levels at the same moments; a phase is the time of one state.

use crate::{PairCourse, PairPhase};
use observation::{CheckKind, CheckResult, MirrorState, Observations, Whole};

/// The name of the check that holds both servers against one another.
const MIRROR: &str = "mirror";

/// The phases; none where nobody looked after a mirror.
pub fn pair_course(observations: &Observations) -> Option<PairCourse> {
    let points = |probe: Whole| observations.series_of(&probe.into()).map(|series| series.points.as_slice());
    let states = points(Whole::MirrorState)?;
    let value = |probe: Whole, at: usize| points(probe)?.get(at).map(|(_, value)| *value);
    let mut phases: Vec<PairPhase> = Vec::new();
    for (at, (moment, state)) in states.iter().enumerate() {
        let Some(state) = MirrorState::of(*state) else { continue };
        let (now, kept) = (moment.seconds(), value(Whole::MirrorKept, at).unwrap_or(0.0));
        let sent = value(Whole::MirrorSent, at).unwrap_or(0.0);
        if let Some(last) = phases.last_mut() {
            let before = value(Whole::MirrorSent, at - 1).unwrap_or(sent);
            (last.to_s, last.kept.1, last.sent) = (now, kept, last.sent + sent - before);
            if last.state == state {
                continue;
            }
        }
        let waiting = value(Whole::MirrorWaiting, at).unwrap_or(0.0);
        phases.push(PairPhase { state, from_s: now, to_s: now, kept: (kept, kept), sent: 0.0, waiting });
    }
    let passed = |is: &dyn Fn(&observation::Check) -> bool| {
        let mut found = observations.checks.iter().filter(|check| is(check)).peekable();
        found.peek()?;
        Some(found.all(|check| check.result == CheckResult::Passed))
    };
    let kept = passed(&|check| check.kind == CheckKind::Ledger);
    Some(PairCourse { phases, kept, equal: passed(&|check| check.name == MIRROR) })
}
