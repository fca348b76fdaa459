//! Whether the primary metric and the thresholds can be measured at all.
//!
//! The one idea: what follows from the study alone is told before a run, because a metric that no trial has would be left
//! out of the report without a word.
//!
//! What it does not do: what fails to be measured in a run is the business of its findings.

use crate::definition::Definition;
use crate::overrides::Overrides;
use crate::point::Point;
use crate::{Judgement, Metric, Selector, Stream, SystemSpec, Trial};
use reading::{Origin, Problems};
use workload::kind::Yield;

/// What a study wants to know, and whether a trial was found that can tell.
pub(crate) struct Wanted<'a> {
    at: Origin,
    /// `primary` or `fail_if`; empty on the command line.
    key: &'static str,
    text: &'a str,
    metric: Metric,
    selectors: Vec<&'a Selector>,
    /// Whether a trial is meant at all.
    meant: bool,
    /// Whether a search chooses such trials.
    searched: bool,
    told: bool,
}

/// Everything that the judgement of a study wants to know.
pub(crate) fn wanted<'a>(
    definition: &'a Definition,
    overrides: &'a Overrides,
    judgement: &'a Judgement,
) -> Vec<Wanted<'a>> {
    let primary = definition.primary.iter().zip(&judgement.primary).map(|(placed, primary)| {
        let selectors = vec![&primary.selector];
        Wanted { selectors, ..Wanted::new(&placed.text, placed.at.clone(), "primary", primary.metric) }
    });
    let own = definition.fail_if.iter().map(|placed| (placed.text.as_str(), placed.at.clone(), "fail_if"));
    let given = overrides.fail_if.iter();
    let given = given.map(|text| (text.as_str(), Origin::Option(format!("--fail-if {text}")), ""));
    let thresholds = own.chain(given).filter_map(|(text, at, key)| {
        let mut same = judgement.thresholds.iter().filter(|threshold| threshold.text == text.trim()).peekable();
        let metric = same.peek()?.metric;
        let selectors = same.map(|threshold| &threshold.selector).collect();
        Some(Wanted { selectors, ..Wanted::new(text, at, key, metric) })
    });
    primary.chain(thresholds).collect()
}

impl<'a> Wanted<'a> {
    fn new(text: &'a str, at: Origin, key: &'static str, metric: Metric) -> Wanted<'a> {
        Wanted { at, key, text, metric, selectors: Vec::new(), meant: false, searched: false, told: false }
    }

    /// Looks whether a trial of a point has it.
    pub(crate) fn look(&mut self, trial: &Trial, point: &Point) {
        if self.selectors.iter().any(|selector| selector.chooses(&trial.label)) {
            let searched = point.experiment.search.is_some() && self.key != "primary";
            self.meant = true;
            self.searched |= searched;
            self.told |= (!searched || self.metric.counts()) && measures(self.metric, trial, point.spec());
        }
    }

    fn needs(&self) -> &'static str {
        if self.searched { "the trials of a search are held against its own bound alone" } else { needs(self.metric) }
    }

    /// Refuses what no trial has; a note where options of the command line took it away.
    pub(crate) fn tell(&self, leaves_all: bool, notes: &mut Vec<String>, problems: &mut Problems) {
        if self.told || !self.meant {
            return;
        }
        if leaves_all || self.key.is_empty() {
            let message = format!("a metric that its trials have: {}, got `{}`", self.needs(), self.text);
            return problems.add_if_new(&self.at, self.key, message);
        }
        let what = if self.key == "primary" { "primary metric" } else { "threshold" };
        notes.push(format!("the {what} `{}` is not measured with these options: {}", self.text, self.needs()));
    }
}

/// Whether a trial has a metric.
fn measures(metric: Metric, trial: &Trial, system: &SystemSpec) -> bool {
    match metric {
        Metric::Elapsed => trial.phases.fixed_work,
        // The CPU of the process cannot be told apart by streams, and costs nothing in virtual time.
        Metric::CpuPerOperation => trial.streams.len() == 1 && !system.place.simulated(),
        // Where nothing is checked no damage is found.
        Metric::Damage => system.place.holds_data() && trial.streams.iter().any(checked),
        Metric::Yield(what) => gives(trial, what),
        _ => true,
    }
}

/// Whether any of its streams gives this to those who ask.
fn gives(trial: &Trial, what: Yield) -> bool {
    trial.label.streams.iter().flat_map(|stream| &stream.gives).any(|gives| gives.what == what.word())
}

/// Whether what a stream wrote or found is held against something.
fn checked(stream: &Stream) -> bool {
    let verifies = stream.operations().is_some_and(|operations| operations.access.verify);
    stream.validates() || verifies || stream.transactions().is_some_and(|(_, pool)| pool.check)
}

fn needs(metric: Metric) -> &'static str {
    match metric {
        Metric::Elapsed => "`elapsed` needs a fixed amount of work (`operations`, or work on files)",
        Metric::CpuPerOperation => {
            "`cpu per operation` needs a system that is not simulated, and one stream that runs alone"
        }
        Metric::Damage => {
            "`damage` needs data that is checked: `validate = true` or `verify = \"after\"` on files and devices, `check` on a \
             database"
        }
        Metric::Yield(Yield::Postings) => "`postings` needs a workload that posts, such as `bank-day`",
        Metric::Yield(Yield::Accounts) => "`accounts balanced` needs the workload `bank-night`",
        Metric::Yield(Yield::DialogSteps | Yield::LoadedRows) => {
            "`dialog steps` and `rows loaded` need the workload `warehouse`"
        }
        _ => "it is measured in every trial",
    }
}
