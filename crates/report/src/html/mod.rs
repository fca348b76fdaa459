//! One self-contained HTML page: the answer, figures with a table under each, method, configuration, caveats.
//!
//! The one idea: it can be mailed, printed and read in ten years. Style and script are in the page, nothing is fetched (the
//! page forbids it to itself), and without the script nothing is missing but the readout under the pointer.
//!
//! What it does not do: it decides nothing about content; [`crate::view`] does.

mod card;
mod configuration;
mod figure;
mod method;
mod plain;
mod prose;
mod table;

pub use plain::{Head, judged_html, sweet_spot_html};

use crate::caveats::CaveatsOfKind;
use crate::harmless::harmless;
use crate::noted::{self, Places};
use crate::view::{Conclusion, Report, Section, Tone, report};
use analysis::{Findings, Verdict, Weight};
use maud::{DOCTYPE, Markup, PreEscaped, html as page};
use prose::prose;
use table::Footnotes;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("readout.js");

/// Nothing may be fetched, and nothing but our own style and script applies, whatever a name in a run file contains. A test holds
/// the sums against the files.
const POLICY: &str = "default-src 'none'; style-src 'sha256-jkgQ7kOXTJaQbDteStDxnpmzE1wagXjIdlaCH7oq3KE='; \
                      script-src 'sha256-lM19V11ri7Am4M7tdO8xkRL2wztKizUoSYLJfanr33A='; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The report as one page that needs nothing else: no network, no fonts, no other file.
pub fn html(findings: &Findings) -> String {
    let report = report(findings);
    let (run, notes) = (&findings.run, Footnotes::of(&report.caveats, Some(findings)));
    let main = page! {
        (head(&report))
        (card::card(&report))
        (short(&report, &notes))
        (contents(&report))
        @if let Some(versus) = &report.versus {
            section id="compared" { h2 { "Systems compared" } (figure::figure(versus, &notes, "figure-compared")) }
        }
        @for (index, section) in report.sections.iter().enumerate() { (experiment(&notes, index, section)) }
        (method::section(findings))
        (configuration::section(findings))
        (caveats(&report.caveats.0, &notes.places))
        (study(&report))
    };
    let program = format!("Prony {}", run.version);
    let footer = format!("{program} ({}) · run {} · seed {}", run.commit, run.id, run.seed);
    whole(&format!("{} · {}", run.title, run.id), &program, &main, &footer)
}

/// What every page has around its content.
fn whole(title: &str, program: &str, main: &Markup, footer: &str) -> String {
    let page = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content=(program);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (main) }
                footer { (footer) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    harmless(page.into_string())
}

fn head(report: &Report) -> Markup {
    let run = &report.findings.run;
    page! {
        header {
            p class="run" {
                span class="brand" { "Prony" }
                span { (configuration::date(run.started_unix_ns)) }
                span { "run " (run.id) }
                @for tag in &run.tags { span class="tag" { (tag) } }
            }
            h1 { (run.title) }
            p class="question" { (prose(&run.question)) }
        }
    }
}

fn short(report: &Report, notes: &Footnotes) -> Markup {
    // What belongs to one experiment is said there; here stands what decides.
    let listed: Vec<&Conclusion> = report.conclusions.iter().filter(|conclusion| decides(conclusion)).collect();
    page! {
        section id="short" {
            h2 { "In short" }
            @if !report.headline.rows.is_empty() {
                (table::table(&report.headline, "headline"))
                (table::footnotes(&report.headline, &of_the_run(&report.caveats.0), notes))
                @if let Some(line) = report.findings.one_window() { p class="notes" { (prose(&line)) } }
                @if report.headline.bounded() { p class="notes" { (BOUNDED) } }
            }
            (conclusions(&listed))
            @if !report.interrupted.rows.is_empty() {
                (table::table(&report.interrupted, "interrupted"))
                (table::footnotes(&report.interrupted, "", notes))
            }
        }
    }
}

/// What a number is of which only one end is known.
const BOUNDED: &str = "≥ and “at least”: at least so much, with 95% confidence; “seen” is the sample's own value.";

/// Whether it is among what is told in short, and there alone.
fn decides(conclusion: &Conclusion) -> bool {
    // The verdicts that a study declared stand on the card and in the figure of comparisons.
    let verdict = Verdict::of_word(&conclusion.word).is_some();
    conclusion.exploratory.is_none() && conclusion.tone != Tone::Plain && !verdict
}

/// Letters of the caveats about the run as a whole: they stand beside no number, so they are told under the first table.
fn of_the_run(kinds: &[CaveatsOfKind]) -> String {
    let whole = |kind: &&CaveatsOfKind| kind.caveats.iter().any(|caveat| caveat.trial.is_none());
    kinds.iter().filter(whole).map(|kind| kind.mark).collect()
}

fn conclusions(conclusions: &[&Conclusion]) -> Markup {
    let class = |tone: Tone| match tone {
        Tone::Plain => "verdict",
        Tone::Good => "verdict good",
        Tone::Bad => "verdict bad",
        Tone::Open => "verdict open",
    };
    page! {
        @if !conclusions.is_empty() {
            ul class="found" {
                @for conclusion in conclusions {
                    li { span class=(class(conclusion.tone)) { (conclusion.word) } span { (prose(&conclusion.text)) } }
                }
            }
        }
    }
}

/// What is told of each system alike; of so many systems the first is enough, and the others are closed until they are asked for.
const OF_EACH: [&str; 5] = ["window", "working set", "bound by", "cost", "data"];
const SYSTEMS_MAX: usize = 2;

fn by_system(found: &[&Conclusion]) -> Markup {
    let alike = |word: &str| found.iter().filter(|one| one.word == word).count();
    let first = |at: usize| !found[..at].iter().any(|before| before.word == found[at].word);
    let folds = |word: &str| OF_EACH.contains(&word) && alike(word) > SYSTEMS_MAX;
    let (shown, folded): (Vec<_>, Vec<_>) = (0..found.len()).partition(|at| first(*at) || !folds(&found[*at].word));
    let of = |places: &[usize]| places.iter().map(|at| found[*at]).collect::<Vec<_>>();
    let words = OF_EACH.into_iter().filter(|word| folds(word)).collect::<Vec<_>>().join(", ");
    page! {
        (conclusions(&of(&shown)))
        @if !folded.is_empty() {
            details { summary { "The same of the others: " (words) } (conclusions(&of(&folded))) }
        }
    }
}

fn contents(report: &Report) -> Markup {
    page! {
        nav aria-label="Contents" {
            @if report.versus.is_some() { a href="#compared" { "Systems compared" } }
            @for (index, section) in report.sections.iter().enumerate() {
                a href=(format!("#experiment-{index}")) { (section.title) }
            }
            a href="#method" { "Method" }
            a href="#configuration" { "Configuration" }
            @if !report.caveats.0.is_empty() { a href="#caveats" { "Caveats" } }
            a href="#study" { "Study and how to repeat it" }
        }
    }
}

fn experiment(notes: &Footnotes, index: usize, section: &Section) -> Markup {
    let found: Vec<&Conclusion> = section.conclusions.iter().filter(|conclusion| !decides(conclusion)).collect();
    page! {
        section id=(format!("experiment-{index}")) class="experiment" {
            h2 { (section.title) }
            @if !section.constant.is_empty() { p class="constant" { "Throughout: " (section.constant) } }
            (by_system(&found))
            @if !section.drawn {
                (table::table(&section.table, "points"))
                (table::footnotes(&section.table, "", notes))
            }
            @for (at, figure) in section.figures.iter().enumerate() { (figure::figure(figure, notes, &format!("figure-{index}-{at}"))) }
        }
    }
}

/// So many words of a kind are shown; the others are closed until they are asked for.
const TOLD_MAX: usize = 3;

/// By weight, details folded.
fn caveats(kinds: &[CaveatsOfKind], places: &Places) -> Markup {
    let of = |weight: Weight| kinds.iter().filter(move |kind| kind.kind.weight() == weight).collect::<Vec<_>>();
    page! {
        @if !kinds.is_empty() {
            section id="caveats" {
                h2 { "Caveats" }
                p { "A letter beside a number leads here." }
                @for weight in [Weight::Decisive, Weight::WorthKnowing] {
                    @let kinds = of(weight);
                    @if !kinds.is_empty() { h3 class="weight" { (weight.word()) } (doubts(&kinds, places)) }
                }
                @let details = of(Weight::Detail);
                @if !details.is_empty() {
                    details { summary { (units::counted(details.len() as u64, "details")) } (doubts(&details, places)) }
                }
            }
        }
    }
}

fn doubts(kinds: &[&CaveatsOfKind], places: &Places) -> Markup {
    page! {
        dl class="doubts" {
            @for kind in kinds {
                @let told = noted::told(kind);
                dt id={ "doubt-" (kind.mark) } { span class="letter" { (kind.mark) } (kind.kind.heading()) }
                @for one in told.iter().take(TOLD_MAX) { (words(one, places)) }
                @if told.len() > TOLD_MAX {
                    dd {
                        details {
                            summary { (told.len() - TOLD_MAX) " more" }
                            dl { @for one in told.iter().skip(TOLD_MAX) { (words(one, places)) } }
                        }
                    }
                }
            }
        }
    }
}

fn words((text, trials): &(String, Vec<u32>), places: &Places) -> Markup {
    page! { dd { (prose(text)) span class="faint" { (places.whom(trials)) } } }
}

fn study(report: &Report) -> Markup {
    let run = &report.findings.run;
    page! {
        section id="study" {
            h2 { "Study and how to repeat it" }
            p { "The same order, the same offsets and the same arrivals follow from the seed:" }
            pre class="command" { (configuration::command(run)) }
            details {
                summary { "The study as it was run" }
                pre { (run.study_text) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_each_of_many_systems_is_folded_beyond_the_first() {
        let of = |system: &str, word: &str| Conclusion::plain("e", word, system.to_owned(), "so much");
        let told = |systems: &[&str]| {
            let all: Vec<Conclusion> =
                systems.iter().flat_map(|system| [of(system, "cost"), of(system, "mirror")]).collect();
            by_system(&all.iter().collect::<Vec<_>>()).into_string()
        };
        let (open, folded) =
            told(&["a", "b", "c"]).split_once("<details>").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a fold");
        assert_eq!(open.matches(">cost<").count(), 1, "{open}");
        assert_eq!(open.matches(">mirror<").count(), 3, "a finding of each is none of them: {open}");
        assert!(folded.contains("The same of the others: cost") && folded.matches(">cost<").count() == 2, "{folded}");
        assert!(!told(&["a", "b"]).contains("<details>"), "two are read side by side");
    }
}
