//! `prony compare`: systems of one run, or two runs, against each other.
//!
//! The one idea: inside a run the trials of systems alternate, so that their difference can be judged. Two runs also differ
//! by whatever happened between them; how much that is, is learnt from runs of the same systems that lie beside them.

use crate::args::Compare;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::folder;
use crate::judged;
use crate::output;
use crate::run::verdict;
use analysis::{BetweenRuns, Finding, Findings, PointSummary};
use observation::RunFacts;
use report::Detail;
use std::path::Path;
use store::RunFile;
use study::Metric;

/// What was set against what.
struct Compared {
    findings: Findings,
    /// Ids, the baseline's first.
    runs: Vec<String>,
}

/// Compares and prints.
pub fn run(asked: &Compare) -> Result<Outcome, Failure> {
    let compared = match &asked.second {
        None => systems_of_one(&asked.choice.run, asked.baseline.as_deref())?,
        Some(second) => two_runs(&asked.choice.run, second)?,
    };
    let runs: Vec<&str> = compared.runs.iter().map(String::as_str).collect();
    let text = || report::text(&only_comparisons(compared.findings.clone()), output::layout(Detail::Full));
    output::answer(asked.json, || report::compare_json(&compared.findings, &runs), text)?;
    Ok(verdict::of_comparisons(&compared.findings, asked.allow_inconclusive))
}

fn systems_of_one(word: &str, baseline: Option<&str>) -> Result<Compared, Failure> {
    let file = folder::open(word)?;
    let facts = judged::facts(&file)?;
    let names: Vec<String> = facts.systems.iter().map(|system| system.name.clone()).collect();
    let doing = format!("comparing the systems of the run `{}`", facts.id);
    if names.len() < 2 {
        return Err(Failure::new(format!("{doing}: two systems are needed, got {}", names.len()))
            .hint("run the study on both at once: `prony run STUDY --on A --on B`")
            .hint("or compare two runs: `prony compare RUN RUN`"));
    }
    let study = judged::study_of(&facts)?;
    let mut judgement = study.judgement().clone();
    if let Some(name) = baseline {
        if !names.iter().any(|known| known == name) {
            let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            return Err(Failure::new(format!("{doing}: the baseline is one of {}, got `{name}`", known.join(", "))));
        }
        judgement.baseline = Some(name.to_owned());
    }
    let runs = vec![facts.id.clone()];
    let findings = judged::findings_by(&file, facts, &judgement)?;
    if findings.comparisons().next().is_none() {
        return Err(not_comparable(&doing, &findings));
    }
    Ok(Compared { findings, runs })
}

/// Why a run on several systems has no comparison.
fn not_comparable(doing: &str, findings: &Findings) -> Failure {
    if findings.trials.iter().any(|trial| trial.label.search.is_some()) {
        return Failure::new(format!(
            "{doing}: each system had a search of its own, and trials that it chose are no pairs"
        ))
        .hint(format!("see what rate each system held: `prony show {}`", findings.run.id))
        .hint("to compare, run the study on both at one `rate`");
    }
    if findings.run.finished {
        return Failure::new(format!("{doing}: no point was measured on two of them"))
            .hint("run a study that both systems can carry");
    }
    Failure::new(format!("{doing}: no point was measured on two of them yet"))
        .hint("let the run go on with `prony run --resume`")
}

fn two_runs(first: &str, second: &str) -> Result<Compared, Failure> {
    let (first, second) = (folder::open(first)?, folder::open(second)?);
    let (first_facts, second_facts) = (judged::facts(&first)?, judged::facts(&second)?);
    let doing = format!("comparing the runs `{}` and `{}`", first_facts.id, second_facts.id);
    if same_run(&first_facts, &second_facts) {
        return Err(Failure::new(format!("{doing}: two different runs are needed, got one twice")));
    }
    let judgement = judged::study_of(&first_facts)?.judgement().clone();
    let metric = judgement.primary.as_ref().map_or(Metric::Throughput, |primary| primary.metric);
    // What is counted by the hour rises and falls with what the database takes for it.
    let requests = matches!(metric, Metric::Yield(_)).then_some(Metric::ServiceMean);
    let between = |metric| known_between(first.path(), &first_facts, &second_facts, metric);
    let known = std::iter::once(metric).chain(requests).map(|metric| (metric, between(metric)));
    let known: Vec<(Metric, Option<BetweenRuns>)> = known.collect();
    let runs = vec![first_facts.id.clone(), second_facts.id.clone()];
    let asked = asked_differently(&first_facts, &second_facts);
    let both = [
        judged::findings_by(&first, first_facts, &judgement)?,
        judged::findings_by(&second, second_facts, &judgement)?,
    ];
    let compare = |(metric, between): &(Metric, Option<BetweenRuns>)| {
        analysis::compare_runs(&both, *metric, judgement.margin, judgement.confidence, between.as_ref())
    };
    let mut findings = compare(&known[0]);
    if let Some(requests) = known.get(1) {
        // The verdict is on what the study asks for.
        for finding in &mut findings.findings {
            if let Finding::Comparison(comparison) = finding {
                comparison.primary = true;
            }
        }
        findings.findings.extend(compare(requests).comparisons().cloned().map(Finding::Comparison));
    }
    findings.answer.splice(0..0, asked);
    if findings.findings.is_empty() {
        return Err(nothing_in_common(&doing, &both, metric));
    }
    Ok(Compared { findings, runs })
}

/// In what the work of two runs differs, so that nobody takes that for a difference of their systems.
fn asked_differently(first: &RunFacts, second: &RunFacts) -> Option<String> {
    let own = |run: &RunFacts, other: &RunFacts| {
        let own = run.settings.iter().filter(|setting| !other.settings.contains(setting));
        let own: Vec<String> = own.map(|setting| format!("`{setting}`")).collect();
        (!own.is_empty()).then(|| format!("`{}` has {}", run.id, own.join(", ")))
    };
    let texts = (first.study_text != second.study_text).then(|| "their studies are not the same text".to_owned());
    let all: Vec<String> = own(first, second).into_iter().chain(own(second, first)).chain(texts).collect();
    let differ = "The runs did not ask the same, and what differs may come of that alone";
    (!all.is_empty()).then(|| format!("{differ}: {}.", all.join("; ")))
}

/// Why two runs have nothing to compare.
fn nothing_in_common(doing: &str, runs: &[Findings; 2], metric: Metric) -> Failure {
    let searched = |run: &Findings| run.trials.iter().all(|trial| trial.label.search.is_some());
    if runs.iter().any(|run| !run.trials.is_empty() && searched(run)) {
        return Failure::new(format!("{doing}: each run searched for its own rates, which are no common points"))
            .hint("see what rate each held with `prony show RUN`, or run both at one `rate`");
    }
    let shared = |point: &PointSummary| runs[0].points.iter().any(|other| other.at.same_elsewhere(&point.at));
    if runs[1].points.iter().any(shared) {
        return Failure::new(format!("{doing}: no point that they have in common has a {}", metric.word()))
            .hint("measure longer, so that the metric has enough operations");
    }
    Failure::new(format!("{doing}: they have no point in common"))
        .hint("compare runs of one study with the same settings")
}

/// How much runs of the same systems differ, from the runs that lie in the folder of the first. The second run never
/// counts as one of the first's kind: a difference between the two would be taken for their noise.
fn known_between(path: &Path, first: &RunFacts, second: &RunFacts, metric: Metric) -> Option<BetweenRuns> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut kinds = vec![first];
    if !alike(first, second) {
        kinds.push(second);
    }
    let entries = folder::scan(dir).ok()?;
    let learnt = kinds.into_iter().map(|kind| {
        let of_kind = entries.iter().filter_map(|entry| Some((&entry.path, &entry.content.as_ref().ok()?.facts)));
        let of_kind = of_kind.filter(|(_, facts)| facts.finished && alike(facts, kind));
        let of_kind = of_kind.filter(|(_, facts)| std::ptr::eq(kind, second) || !same_run(facts, second));
        of_kind.filter_map(|(path, _)| judged::findings(&RunFile::open(path).ok()?).ok()).collect()
    });
    BetweenRuns::learn(&learnt.collect::<Vec<Vec<Findings>>>(), metric)
}

/// Whether two files hold one run; a copy may have another name.
fn same_run(a: &RunFacts, b: &RunFacts) -> bool {
    (a.started_unix_ns, a.seed) == (b.started_unix_ns, b.seed)
}

/// Whether two runs asked the same of the same systems.
fn alike(a: &RunFacts, b: &RunFacts) -> bool {
    let places = |facts: &RunFacts| -> Vec<[String; 4]> {
        let system = |s: &observation::SystemFacts| [&s.name, &s.kind, &s.place, &s.driver].map(Clone::clone);
        facts.systems.iter().map(system).collect()
    };
    (&a.study_text, &a.settings, &a.only, &a.targets) == (&b.study_text, &b.settings, &b.only, &b.targets)
        && places(a) == places(b)
}

/// The answer, the comparisons, the footprints and the caveats; the tables of each system belong to `show`.
fn only_comparisons(mut findings: Findings) -> Findings {
    findings.findings.retain(|finding| matches!(finding, Finding::Comparison(_) | Finding::Footprint(_)));
    findings.points.clear();
    findings.trials.clear();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(target: &str) -> RunFacts {
        RunFacts { study: "flash".into(), targets: vec![target.into()], ..RunFacts::default() }
    }

    #[test]
    fn runs_that_asked_for_other_work_say_in_what_they_differ() {
        let of = |id: &str, settings: &[&str]| RunFacts {
            id: id.into(),
            settings: settings.iter().map(|one| (*one).to_owned()).collect(),
            ..run("a")
        };
        assert_eq!(asked_differently(&of("a", &["users=64"]), &of("b", &["users=64"])), None);
        let told = asked_differently(&of("a", &["users=64", "measure=5s"]), &of("b", &["users=16", "measure=5s"]));
        assert!(told.unwrap_or_default().ends_with("alone: `a` has `users=64`; `b` has `users=16`."));
        let other = RunFacts { study_text: "x".into(), ..of("b", &[]) };
        assert!(asked_differently(&of("a", &[]), &other).unwrap_or_default().contains("not the same text"));
    }

    #[test]
    fn runs_are_alike_when_study_settings_and_systems_are() {
        assert!(alike(&run("a"), &RunFacts { id: "x".into(), seed: 9, ..run("a") }));
        assert!(!alike(&run("a"), &run("b")));
        assert!(!alike(&run("a"), &RunFacts { settings: vec!["measure=1s".into()], ..run("a") }));
    }
}
