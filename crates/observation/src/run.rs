//! The facts of a run that are not numbers of a trial: who ran what, on which system, with which generator.

/// One line of a fingerprint: something that could change a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// Dotted name: `kernel.release`, `disk.vda.scheduler`.
    pub key: String,
    /// The value as read, or `not observed`.
    pub value: String,
    /// Whether a redacted copy leaves it out (host names, paths, serial numbers).
    pub private: bool,
}

/// What a system takes to run, as the user states it; carried into comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Drives.
    pub drives: Option<f64>,
    /// Electrical power in watts.
    pub watts: Option<f64>,
    /// Rack units.
    pub rack_units: Option<f64>,
    /// Price in whatever currency the user keeps.
    pub price: Option<f64>,
}

/// One system under test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemFacts {
    /// The name used in trials.
    pub name: String,
    /// The word of study files: `file`, `device`, `null`, `scripted`, `model`, or an engine of databases such as `postgres`.
    pub kind: String,
    /// Where it is, in words: a folder, a device, nothing.
    pub place: String,
    /// How many modules it offers.
    pub modules: u32,
    /// How the operations reach it: `io_uring, direct`.
    pub driver: String,
    /// Everything that could change a number.
    pub fingerprint: Vec<Fact>,
    /// As given by the user.
    pub footprint: Footprint,
}

/// What the generator can do, measured on a null system before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ceiling {
    /// One operation through load machine, driver and recorder, nanoseconds.
    pub null_operation_ns: f64,
    /// One reading of the clock, nanoseconds.
    pub clock_read_ns: f64,
    /// How late the generator issues at p99 under an open load, nanoseconds.
    pub lateness_p99_ns: f64,
    /// How far the arrivals issued are from those asked for, percent.
    pub open_rate_error_pct: f64,
}

/// A run, apart from its trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// `2026-11-21T2130-flash`.
    pub id: String,
    /// Name of the study.
    pub study: String,
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// Wall-clock start, nanoseconds since 1970 in UTC.
    pub started_unix_ns: i64,
    /// The seed from which every choice of the run follows.
    pub seed: u64,
    /// Prony's version.
    pub version: String,
    /// Commit it was built from, or `unknown`.
    pub commit: String,
    /// The text of the study as it was run.
    pub study_text: String,
    /// `--on` values, secrets removed.
    pub targets: Vec<String>,
    /// `--set` values.
    pub settings: Vec<String>,
    /// `--only` values.
    pub only: Vec<String>,
    /// Labels that the user gave.
    pub tags: Vec<String>,
    /// A remark that the user gave.
    pub note: String,
    /// The systems under test.
    pub systems: Vec<SystemFacts>,
    /// The generator's own limits, when they were measured.
    pub ceiling: Option<Ceiling>,
    /// Whether every planned trial ended.
    pub finished: bool,
}
