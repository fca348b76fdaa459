//! What is said on stderr while a run goes on: one line on a terminal, with the time left, the rate and p99.
//!
//! The one idea: the line is an observer like any other. Where nobody watches (a pipe, a log) nothing is drawn, and only
//! `--verbose` gets plain lines, one a phase.
//!
//! What it does not do: it times nothing. The moments come from the engine, the expected times from the plan.

use super::planned;
use crate::args::Voice;
use crate::output;
use engine::{Live, Phase};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use study::Trial;
use units::Nanos;

/// The progress of a run.
#[derive(Default)]
pub struct Progress {
    bar: Option<ProgressBar>,
    voice: Voice,
    /// What the plan expects all trials that are known so far to take.
    total: Nanos,
    /// What the plan expected the trials to take that have ended.
    done: Nanos,
    /// What the current trial is expected to take, and how much of that lies before the current phase.
    trial: Nanos,
    before_phase: Nanos,
    phase: Nanos,
    /// Whether nobody knows how long the phase takes: a job is measured until it is done.
    unknown: bool,
    /// Where the last line was said, in the time of the plan, where lines are asked for.
    told: Nanos,
    ordinal: (usize, usize),
}

impl Progress {
    /// Nothing is drawn yet.
    pub fn new(voice: Voice, total: Nanos) -> Progress {
        let watched = output::stderr_watched() && !voice.quiet && voice.progress.is_none();
        let bar = watched.then(|| bar(total));
        Progress { bar, voice, total, ..Progress::default() }
    }

    /// A trial begins: `number` of `known`, expected to take so long.
    pub fn begin(&mut self, number: usize, known: usize, expected: Nanos) {
        self.ordinal = (number, known);
        (self.trial, self.before_phase, self.phase) = (expected, Nanos::ZERO, Nanos::ZERO);
    }

    /// The trial ended; what it was expected to take is behind us, however long it took.
    pub fn end(&mut self) {
        self.done = self.done.saturating_add(self.trial);
        (self.trial, self.before_phase, self.phase) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
    }

    /// A phase begins.
    pub fn phase(&mut self, trial: &Trial, phase: Phase, expected: Nanos) {
        self.before_phase = self.before_phase.saturating_add(self.phase);
        self.unknown = phase == Phase::Measure && planned::is_job(trial);
        self.phase = if self.unknown { Nanos::ZERO } else { expected };
        let line = format!("{} · {}", self.title(trial), phase.word());
        if self.voice.verbose {
            let expected =
                if expected == Nanos::ZERO { String::new() } else { format!(" {}", units::duration(expected)) };
            self.say(&format!("{line}{expected}"));
        }
        let (number, known) = self.ordinal;
        self.draw(Nanos::ZERO, format!("{number}/{known} {} · {}", phase.word(), trial_words(trial)));
    }

    /// How the phase goes.
    pub fn live(&mut self, trial: &Trial, live: &Live) {
        if let Some(every) = self.voice.progress {
            return self.line(trial, live, every);
        }
        if self.bar.is_none() {
            return;
        }
        let p99 = live.p99_ms.map_or_else(String::new, |ms| format!(", p99 {}", units::milliseconds(ms)));
        let rate = units::rate(live.done_per_s);
        let into = live.at.saturating_sub(moment_of(live.phase, trial));
        // What changes comes first: a narrow terminal cuts the end off, and the title is the longest part.
        let (number, known) = self.ordinal;
        self.draw(into, format!("{number}/{known} {} {rate}{p99} · {}", live.phase.word(), trial_words(trial)));
    }

    /// Says a line, if it is time for the next.
    fn line(&mut self, trial: &Trial, live: &Live, every: Nanos) {
        let into = live.at.saturating_sub(moment_of(live.phase, trial));
        // Where nobody knows how long a phase takes, it counts by itself.
        let now = if self.unknown { self.done.saturating_add(live.at) } else { self.position(into) };
        if now.saturating_sub(self.told) < every && now >= self.told {
            return;
        }
        self.told = now;
        let time = |name: &str, ms: Option<f64>| {
            ms.map_or_else(String::new, |ms| format!(", {name} {}", units::milliseconds(ms)))
        };
        let left = if self.unknown { "unknown time".to_owned() } else { planned::roughly(self.left(into)) };
        let failed = if live.failed > 0 { format!(", {} failed", live.failed) } else { String::new() };
        let (number, known) = self.ordinal;
        self.say(&format!(
            "{number}/{known} {} {}{}{}{failed} · {left} left · {}",
            live.phase.word(),
            units::rate(live.done_per_s),
            time("p50", live.p50_ms),
            time("p99", live.p99_ms),
            trial_words(trial)
        ));
    }

    /// What is left of all, so far into the phase.
    fn left(&self, into_phase: Nanos) -> Nanos {
        self.total.saturating_sub(self.position(into_phase))
    }

    fn position(&self, into_phase: Nanos) -> Nanos {
        let into_trial = self.before_phase.saturating_add(into_phase.min(self.phase)).min(self.trial);
        self.done.saturating_add(into_trial)
    }

    /// A line that stays.
    pub fn say(&self, text: &str) {
        match &self.bar {
            _ if self.voice.quiet => {}
            Some(bar) => bar.suspend(|| output::note_line(text)),
            None => output::note_line(text),
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn title(&self, trial: &Trial) -> String {
        let (number, known) = self.ordinal;
        format!("{number}/{known} {}", trial_words(trial))
    }

    fn draw(&self, into_phase: Nanos, message: String) {
        let Some(bar) = &self.bar else { return };
        let (position, left) = (self.position(into_phase), self.left(into_phase));
        bar.set_length(self.total.0.max(1) / 1_000_000);
        bar.set_position(position.0 / 1_000_000);
        bar.set_prefix(if self.unknown { "unknown time".to_owned() } else { planned::roughly(left) });
        bar.set_message(output::harmless(&message, false).into_owned());
        bar.tick();
    }
}

/// What a trial is, in the words of its label: `rates by modules, random-read, modules=2, b`.
pub fn trial_words(trial: &Trial) -> String {
    let label = &trial.label;
    let mut words = vec![label.experiment.clone()];
    words.extend(label.streams.iter().map(|stream| stream.name.clone()));
    words.extend(label.factors.iter().map(observation::Factor::as_set));
    words.push(label.system.clone());
    words.dedup();
    words.join(", ")
}

/// The line has one redraw a tick of the engine at most; no thread of its own that could disturb what is measured.
fn bar(total: Nanos) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>12} left [{bar:20}] {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(4));
    bar.set_style(style);
    bar.set_prefix(planned::roughly(total));
    bar.set_message("getting ready");
    bar
}

/// When a phase begins on the clock on which its moments are told.
fn moment_of(phase: Phase, trial: &Trial) -> Nanos {
    match phase {
        Phase::Measure => trial.phases.warm_up,
        Phase::Drain => trial.phases.warm_up + trial.phases.measure,
        _ => Nanos::ZERO,
    }
}
