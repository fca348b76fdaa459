//! What was found to be wrong with the data, before everything else: damage that was read back, checks that did not hold, and
//! servers that were lost.
//!
//! The one idea: a fast system that lost an acknowledged order is no fast system, so this leads the findings and the answer, and
//! comes from every attempt at a trial, also from one that was run again.

use crate::compare::SPREAD;
use crate::{DamageFinding, Finding, Findings, OutageFinding, TrialSummary};
use observation::{Check, CheckKind, CheckMoment, CheckResult, EventKind, TrialCheck};
use study::{Mirrored, Pairing, Spread};
use units::{count, counted};

/// So many rows that break a check are told at most.
const VIOLATIONS: u64 = 10;

impl Findings {
    /// The same with what the checks of all attempts at all trials found, of systems of which these have a mirror.
    #[must_use]
    pub fn with_checks(mut self, checks: Vec<TrialCheck>, mirrored: &[Mirrored]) -> Findings {
        let found: Vec<Finding> = checks.iter().filter_map(|check| of_check(check, &checks, &self.trials)).collect();
        let damaged = found.iter().filter_map(DamageFinding::of);
        let pair = damaged.filter_map(|one| self.lets_updates_be_lost(one.trial, mirrored)).next();
        lead(&mut self, found, &checks);
        let behind = self.answer.len().min(1);
        self.answer.splice(behind..behind, pair);
        self.checks = checks;
        self
    }

    /// What is known of a pair that lets updates be lost, where sessions of that trial wrote on both of its nodes.
    fn lets_updates_be_lost(&self, trial: u32, mirrored: &[Mirrored]) -> Option<String> {
        let label = self.trials.iter().map(|one| &one.label).find(|label| label.index == trial)?;
        let pair = mirrored.iter().find(|pair| pair.system == label.system && pair.pairing == Pairing::Galera)?;
        let spread = label.factors.iter().find(|factor| factor.name == SPREAD);
        let both = spread.map_or(pair.both, |spread| Spread::of_word(spread.level.text()) != Some(Spread::One));
        both.then(|| {
            format!(
                "Sessions wrote on both nodes of {}, and Galera does not rule out lost updates there, even without a fault: two transactions \
                 read the same row on two nodes, and both commit. So it is the pair's doing: write each row on one node only.",
                pair.system
            )
        })
    }

    /// What was found to be wrong with the data.
    pub fn damage(&self) -> impl Iterator<Item = &DamageFinding> {
        self.findings.iter().filter_map(DamageFinding::of)
    }
}

/// Damage that reads found, by kind.
pub fn of_reads(trials: &[TrialSummary]) -> Vec<Finding> {
    let of_trial = |trial: &TrialSummary| {
        let index = trial.label.index;
        let damage = trial.mishaps.iter().filter(|mishap| mishap.kind == EventKind::Damage);
        let found = damage.map(move |mishap| {
            let reads = format!("{} found {} data", counted(mishap.count, "reads"), mishap.what);
            DamageFinding {
                trial: index,
                attempt: None,
                source: "reads".to_owned(),
                what: mishap.what.clone(),
                count: mishap.count,
                text: format!("trial {index}: {reads}; the first: {}", mishap.first),
            }
        });
        found.map(Finding::Damage).collect::<Vec<_>>()
    };
    trials.iter().flat_map(of_trial).collect()
}

/// What the look at the data after an outage came to, where nothing is wrong with it: what is wrong is a finding of its own.
fn kept(outage: &TrialCheck, all: &[TrialCheck]) -> String {
    let own = all.iter().filter(|other| (other.trial, other.attempt) == (outage.trial, outage.attempt));
    let looks = own.map(|other| &other.check).filter(|check| check.moment == CheckMoment::Outage);
    let looks: Vec<&Check> = looks.filter(|check| check.kind != CheckKind::Recovery).collect();
    if looks.iter().any(|check| check.result == CheckResult::Failed) {
        return String::new();
    }
    let passed: Vec<&&Check> = looks.iter().filter(|check| check.result == CheckResult::Passed).collect();
    let invariants = passed.iter().filter(|check| check.kind == CheckKind::Invariant).count();
    let mut told: Vec<String> =
        passed.iter().filter(|check| check.kind == CheckKind::Ledger).map(|check| check.found.clone()).collect();
    if invariants > 0 {
        let verb = if invariants == 1 { "holds" } else { "hold" };
        told.push(format!("{} of the data {verb}", counted(invariants as u64, "checks")));
    }
    let not_done = looks.len() - passed.len();
    if not_done > 0 {
        told.push(format!("{} could not be done", counted(not_done as u64, "checks")));
    }
    if told.is_empty() {
        "; its data was not checked".to_owned()
    } else {
        format!("; its data was checked: {}", told.join(", "))
    }
}

/// Which trial, of how many on which system.
fn named(index: u32, trials: &[TrialSummary]) -> String {
    match trials.iter().find(|trial| trial.label.index == index) {
        Some(trial) if trials.len() > 1 => format!("trial {index} of {} on {}", trials.len(), trial.label.system),
        _ => format!("trial {index}"),
    }
}

fn of_check(told: &TrialCheck, all: &[TrialCheck], trials: &[TrialSummary]) -> Option<Finding> {
    let TrialCheck { trial, attempt, check } = told;
    let (trial, attempt) = (*trial, *attempt);
    let Check { kind, moment, name, says, result, found, .. } = check;
    if *kind == CheckKind::Recovery {
        let recovered = *result == CheckResult::Passed;
        let data = if recovered { kept(told, all) } else { String::new() };
        let text = format!("trial {trial}: {found}{data}");
        return Some(Finding::Outage(OutageFinding { trial, attempt, recovered, text }));
    }
    (*result == CheckResult::Failed).then(|| {
        let place = format!("{}, {}: {name}", named(trial, trials), moment.word());
        let lines = found.lines().count() as u64;
        let many = match lines {
            VIOLATIONS.. => format!("{VIOLATIONS} places or more, the first"),
            1 => "1 place".to_owned(),
            lines => format!("{}, the first", counted(lines, "places")),
        };
        let text = match (kind, found.lines().next()) {
            (CheckKind::Ledger, _) => format!("{place}: {found}"),
            (_, Some(first)) => format!("{place}: {says}, but not in {many}: {first}"),
            (_, None) => format!("{place}: {says}, and that does not hold"),
        };
        Finding::Damage(DamageFinding {
            trial,
            attempt: Some(attempt),
            source: kind.word().to_owned(),
            what: name.clone(),
            count: lines.max(1),
            text,
        })
    })
}

/// Puts findings before all others, and the first of them before the answer. An outage that ended an attempt at a trial which was
/// run again since is told behind it.
pub fn lead(findings: &mut Findings, mut found: Vec<Finding>, checks: &[TrialCheck]) {
    found.sort_by_key(gravity);
    let damage: Vec<&DamageFinding> = found.iter().filter_map(DamageFinding::of).collect();
    let again = |outage: &&OutageFinding| {
        let ended = findings.trials.iter().any(|trial| trial.label.index == outage.trial && !trial.interrupted);
        ended
            && checks.iter().any(|one| {
                (one.trial, one.attempt) == (outage.trial, outage.attempt) && one.check.name == Check::GAVE_UP
            })
    };
    let (before, lasting): (Vec<_>, Vec<_>) = found.iter().filter_map(OutageFinding::of).partition(again);
    let outage = lasting.first();
    let sentence = match (damage.as_slice(), outage) {
        ([first, rest @ ..], _) => {
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!("; {} more of the like", count(rest.len() as u64))
            };
            Some(format!("Data is damaged or lost: {}{more}.", first.text))
        }
        ([], Some(outage)) => Some(format!("{}.", outage.text.replacen("trial", "Trial", 1))),
        ([], None) => None,
    };
    // What is lost goes before any number.
    findings.answer.splice(0..0, sentence);
    let behind = before.first().filter(|_| damage.is_empty() && lasting.is_empty());
    findings.answer.extend(behind.map(|outage| format!("Before it was run again, {}.", outage.text)));
    findings.findings.splice(0..0, found);
}

/// Acknowledged work that is gone before other damage, and that before a server that came back.
fn gravity(found: &Finding) -> u8 {
    match DamageFinding::of(found) {
        Some(damage) if damage.source == CheckKind::Ledger.word() => 0,
        Some(_) => 1,
        None => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::run::tests::{judgement, trial};
    use observation::{Mishap, RunFacts};

    fn missing(attempt: u32) -> TrialCheck {
        let check = Check {
            kind: CheckKind::Ledger,
            moment: CheckMoment::Outage,
            name: "ledger".to_owned(),
            result: CheckResult::Failed,
            found: "141 acknowledged orders are missing, the first is trade 7".to_owned(),
            ..Check::default()
        };
        TrialCheck { trial: 0, attempt, check }
    }

    #[test]
    fn a_loss_leads_the_answer_and_the_findings_even_of_an_attempt_that_was_run_again() {
        let run = RunFacts { finished: true, ..RunFacts::default() };
        let held = TrialCheck { check: Check { result: CheckResult::Passed, ..missing(1).check }, ..missing(1) };
        let findings = judge(run, vec![trial(0, "a", 0, 100.0)], &judgement()).with_checks(vec![missing(0), held], &[]);
        let first = "Data is damaged or lost: trial 0, after an outage: ledger: 141 acknowledged orders are missing, the \
                     first is trade 7.";
        assert_eq!(findings.answer[0], first);
        assert!(matches!(&findings.findings[0], Finding::Damage(found) if found.attempt == Some(0)));
        assert_eq!((findings.damage().count(), findings.checks.len()), (1, 2));
    }

    #[test]
    fn an_outage_says_whether_the_data_was_kept() {
        let of = |kind, found: &str| {
            let check = Check { kind, result: CheckResult::Passed, found: found.to_owned(), ..missing(0).check };
            TrialCheck { check, ..missing(0) }
        };
        let back = of(CheckKind::Recovery, "the server takes connections again; it was lost: gone");
        let (orders, money) = (of(CheckKind::Ledger, "335 orders are as acknowledged"), of(CheckKind::Invariant, ""));
        let answer = |checks: &[&TrialCheck]| {
            let checks = checks.iter().map(|check| (*check).clone()).collect();
            judge(RunFacts::default(), vec![], &judgement()).with_checks(checks, &[]).answer[0].clone()
        };
        let told = answer(&[&back, &orders, &money]);
        assert!(
            told.ends_with("gone; its data was checked: 335 orders are as acknowledged, 1 check of the data holds."),
            "{told}"
        );
        assert!(answer(&[&back]).ends_with("; its data was not checked."));
        // A trial that was run again has an answer of its own before it.
        let again = judge(RunFacts::default(), vec![trial(0, "a", 0, 100.0)], &judgement());
        let [end, again] = ["", Check::GAVE_UP].map(|name| {
            let mut back = back.clone();
            back.check.name = name.to_owned();
            again.clone().with_checks(vec![back, orders.clone()], &[])
        });
        let outages = again.answer.iter().map(|sentence| sentence.contains("it was lost: gone")).collect::<Vec<_>>();
        assert!(outages.len() > 1 && outages.last() == Some(&true) && !outages[0], "{:?}", again.answer);
        assert!(end.answer[0].contains("it was lost: gone"), "after the load of the trial that counts");
        assert!(matches!(again.findings[0], Finding::Outage(_)), "it stays among the findings");
    }

    #[test]
    fn a_balance_that_galera_lost_an_update_of_is_told_as_the_pairs_doing_where_both_nodes_took_writes() {
        let balances = Check {
            name: "balances".to_owned(),
            says: "each customer owes what was delivered".to_owned(),
            result: CheckResult::Failed,
            found: "211, 5\n".repeat(10),
            ..Check::default()
        };
        let told = |pairing, both, spread: Option<&str>| {
            let waits = study::Waits::Flushed;
            let pair = Mirrored { system: "paired".to_owned(), pairing, waits, apart: false, published: false, both };
            let mut trials = vec![trial(0, "alone", 0, 100.0), trial(1, "paired", 0, 50.0)];
            let level = |word: &str| observation::Level::Word(word.to_owned());
            let factor = spread.map(|word| observation::Factor { name: "spread".to_owned(), level: level(word) });
            trials[1].label.factors = Vec::from_iter(factor);
            let checks = vec![TrialCheck { trial: 1, attempt: 0, check: balances.clone() }];
            judge(RunFacts::default(), trials, &judgement()).with_checks(checks, &[pair]).answer
        };
        let random = told(Pairing::Galera, false, Some("random"));
        let first = "Data is damaged or lost: trial 1 of 2 on paired, after the trial: balances: each customer owes what was \
                     delivered, but not in 10 places or more, the first: 211, 5.";
        assert_eq!(random[0], first);
        let lost = |answer: &[String]| answer[1].contains("lost updates") && answer[1].contains("nodes of paired,");
        assert!(lost(&random) && lost(&told(Pairing::Galera, true, None)), "{random:?}");
        let others =
            [(Pairing::Galera, true, Some("one")), (Pairing::Galera, false, None), (Pairing::TwoPhase, true, None)];
        assert!(others.into_iter().all(|(pairing, both, spread)| !lost(&told(pairing, both, spread))));
    }

    #[test]
    fn damage_that_reads_found_is_told_by_kind() {
        let mut read = trial(0, "a", 0, 100.0);
        let mishap = |what: &str, count| Mishap {
            stream: 0,
            kind: EventKind::Damage,
            what: what.to_owned(),
            count,
            first: format!("{what} sector"),
        };
        read.mishaps = vec![mishap("torn", 3), mishap("stale", 1)];
        let findings = judge(RunFacts::default(), vec![read], &judgement());
        let told: Vec<&str> = findings.damage().map(|found| found.text.as_str()).collect();
        assert_eq!(
            told,
            [
                "trial 0: 3 reads found torn data; the first: torn sector",
                "trial 0: 1 read found stale data; the first: stale sector"
            ]
        );
        assert!(findings.answer[0].ends_with("torn sector; 1 more of the like."), "{:?}", findings.answer);
    }
}
