//! A copy of findings that can be handed to others: without host names, paths, serial numbers and remarks.
//!
//! The one idea: what is private is known as a value (private facts, places, targets), so it is taken out wherever that value
//! stands: in answers, caveats and the text of the study too, not only in the line where it was recorded.

use analysis::{Caveat, Finding, Findings};

/// What stands in place of a private value.
const HIDDEN: &str = "[redacted]";

/// Values shorter than this are too common in ordinary words to be replaced everywhere.
const SECRET_MIN: usize = 3;

/// The same findings with private values taken out. Numbers, names of studies, experiments and streams stay.
pub fn redacted(findings: &Findings) -> Findings {
    let secrets = secrets(findings);
    let mut copy = findings.clone();
    copy.run.note = String::new();
    copy.run.targets.iter_mut().for_each(|target| *target = hidden_target(target));
    for system in &mut copy.run.systems {
        if !matches!(system.place.as_str(), "" | "nothing" | "null") {
            system.place = HIDDEN.to_owned();
        }
        system.fingerprint.retain(|fact| !fact.private);
        system.fingerprint.iter_mut().for_each(|fact| scrub(&mut fact.value, &secrets));
    }
    copy.run.study_text = without_paths(&copy.run.study_text);
    for text in texts(&mut copy) {
        scrub(text, &secrets);
    }
    copy
}

/// Every private value, longest first, so that a path goes before the folder that it begins with.
fn secrets(findings: &Findings) -> Vec<String> {
    let run = &findings.run;
    let facts = run.systems.iter().flat_map(|system| &system.fingerprint).filter(|fact| fact.private);
    let places = run.systems.iter().flat_map(|system| system.place.split([',', ' ']));
    let targets = run.targets.iter().flat_map(|target| target.splitn(2, ':').skip(1).chain(target.split('=').skip(1)));
    let mut secrets: Vec<String> = facts
        .map(|fact| fact.value.as_str())
        .chain(places.filter(|place| place.contains('/')))
        .chain(targets)
        .chain(run.targets.iter().map(String::as_str).filter(|target| target.contains('/')))
        .map(str::trim)
        .filter(|value| value.len() >= SECRET_MIN && !matches!(*value, "not observed" | "none" | "unknown"))
        .map(str::to_owned)
        .collect();
    secrets.sort_by_key(|secret| (std::cmp::Reverse(secret.len()), secret.clone()));
    secrets.dedup();
    secrets
}

/// `file:/mnt/data` keeps its kind: `file:[redacted]`.
fn hidden_target(target: &str) -> String {
    match target.split_once(':') {
        Some((kind, rest)) if !rest.is_empty() => format!("{kind}:{HIDDEN}"),
        Some(_) => target.to_owned(),
        None => HIDDEN.to_owned(),
    }
}

/// Quoted texts that are paths, in the text of a study.
fn without_paths(text: &str) -> String {
    let path = |part: &str| ["/", "~", "./", "../", "file:", "device:"].iter().any(|start| part.starts_with(start));
    let mut parts: Vec<String> = text.split('"').map(str::to_owned).collect();
    for part in parts.iter_mut().skip(1).step_by(2).filter(|part| path(part)) {
        *part = HIDDEN.to_owned();
    }
    parts.join("\"")
}

fn scrub(text: &mut String, secrets: &[String]) {
    for secret in secrets {
        if text.contains(secret.as_str()) {
            *text = text.replace(secret.as_str(), HIDDEN);
        }
    }
}

/// Every text that may name a private value.
fn texts(findings: &mut Findings) -> Vec<&mut String> {
    let run = &mut findings.run;
    let mut texts: Vec<&mut String> = vec![&mut run.study_text, &mut run.title, &mut run.question, &mut run.id];
    texts.extend(run.settings.iter_mut().chain(&mut run.tags).chain(&mut run.only));
    texts.extend(run.systems.iter_mut().flat_map(|system| [&mut system.name, &mut system.driver]));
    texts.extend(findings.answer.iter_mut());
    for trial in &mut findings.trials {
        texts.push(&mut trial.label.system);
        texts.extend(trial.label.state.said_mut());
        texts.extend(trial.label.search.as_mut().map(|search| &mut search.words));
        texts.extend(trial.events.iter_mut().map(|event| &mut event.text));
        texts.extend(caveats(&mut trial.caveats));
    }
    for point in &mut findings.points {
        texts.push(&mut point.at.system);
        texts.extend(caveats(&mut point.caveats));
    }
    texts.extend(caveats(&mut findings.caveats));
    texts.extend(findings.findings.iter_mut().flat_map(finding_texts));
    texts
}

fn caveats(caveats: &mut [Caveat]) -> impl Iterator<Item = &mut String> {
    caveats.iter_mut().map(|caveat| &mut caveat.text)
}

fn finding_texts(finding: &mut Finding) -> Vec<&mut String> {
    match finding {
        Finding::Comparison(finding) => {
            [&mut finding.baseline, &mut finding.point.system].into_iter().chain(finding.reason.as_mut()).collect()
        }
        Finding::Knee(finding) => vec![&mut finding.point.system],
        Finding::HighestRate(finding) => vec![&mut finding.point.system, &mut finding.reason],
        Finding::ServiceFit(finding) => vec![&mut finding.point.system],
        Finding::Scaling(finding) => vec![&mut finding.point.system],
        Finding::Sustained(finding) => vec![&mut finding.point.system],
        Finding::Threshold(finding) => vec![&mut finding.text, &mut finding.at],
    }
}
