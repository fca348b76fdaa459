//! Streams of transactions: what a point asks of a database, and through how many sessions.
//!
//! The one idea: users and arrivals are the load, sessions are what carries it. A closed load without users has one user a
//! session.
//!
//! What it does not do: it reads no script and knows no database.

use crate::definition::WorkloadKind;
use crate::experiment::FactorChoice;
use crate::point::Point;
use crate::value::Value;
use crate::{Access, Isolation, Place, Pool, Protocol, ScriptsSpec, Sessions, Stream, Workload};
use load::{Arrivals, Pacing, Ramp, Spec as LoadSpec, Think};
use observation::ClassKind;
use reading::Problems;
use units::{Bytes, Nanos, PerSecond};
use workload::brokerage::{Market, Preset, Spec};
use workload::rows;

/// The stream of transactions at a point.
pub(crate) fn stream(point: &Point, i: usize, problems: &mut Problems) -> Stream {
    let workload = match point.streams[i].kind {
        WorkloadKind::Brokerage => Workload::Brokerage(brokerage(point, i, problems)),
        WorkloadKind::Rows => Workload::Rows(jobs(point, i)),
        _ => Workload::Sql(scripts(point, i, problems)),
    };
    let pool = pool(point, i);
    Stream {
        workload,
        load: load(point, i, pool.sessions, problems),
        ramp: Ramp { over: point.time("ramp", i).unwrap_or_default() },
        access: access(point, i, pool.sessions, problems),
        operations: None,
        pool: Some(pool),
    }
}

/// The classes of a stream of transactions.
pub(crate) fn classes(workload: &Workload) -> Vec<(String, ClassKind)> {
    let work = |name: &str| (name.to_owned(), ClassKind::Work);
    match workload {
        Workload::Brokerage(spec) => workload::brokerage::classes(spec.preset).into_iter().map(work).collect(),
        Workload::Sql(spec) => spec.scripts.iter().map(|(path, _)| work(script_name(path))).collect(),
        Workload::Rows(spec) => rows::classes(spec).into_iter().map(work).collect(),
        Workload::Block(_) | Workload::Files(_) => Vec::new(),
    }
}

/// What a script is called in reports: its file's name.
pub fn script_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Settings of the server at a point: `shared_buffers=1GB; work_mem=4MB`.
pub(crate) fn server(point: &Point, problems: &mut Problems) -> Vec<(String, String)> {
    if !matches!(point.spec().place, Place::Database(_)) {
        return Vec::new();
    }
    let text = point.text("server", 0);
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let mut settings = Vec::new();
    for part in parts {
        match part.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                settings.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            _ => point.refuse("server", 0, format!("a list of SETTING=VALUE with `;` between, got `{part}`"), problems),
        }
    }
    settings
}

fn brokerage(point: &Point, i: usize, problems: &mut Problems) -> Spec {
    let procedures = point.flag("procedures", i);
    if let (true, Place::Database(spec)) = (procedures, &point.spec().place)
        && !spec.engine.has_procedures()
    {
        let message = format!(
            "procedures run on PostgreSQL and MariaDB; {} has no stored procedures, got true",
            spec.engine.word()
        );
        point.refuse("procedures", i, message, problems);
    }
    Spec {
        procedures,
        preset: if point.word("preset", i) == "house" { Preset::House } else { Preset::Desk },
        customers: point.count("customers", i).unwrap_or(1_000),
        days: point.count("days", i).unwrap_or(10),
        market: if point.word("market", i) == "by-count" { Market::ByCount } else { Market::ByTime },
        maintenance: point.flag("maintenance", i),
    }
}

/// Jobs over tables that are made for the largest trial of the experiment, so that all of its trials find the same data.
fn jobs(point: &Point, i: usize) -> rows::Spec {
    let own = |factor: &&FactorChoice| {
        factor.key.name == "sessions" && factor.stream.as_ref().is_none_or(|name| *name == point.streams[i].name)
    };
    let levels = point.experiment.factors.iter().filter(own).flat_map(|factor| &factor.levels);
    let counts = levels.filter_map(|level| if let Value::Count(count) = level.value { Some(count) } else { None });
    let jobs = counts.chain(point.count("sessions", i)).max().unwrap_or(1);
    let bytes = |key| point.size(key, i).unwrap_or_default().0;
    rows::Spec {
        jobs: jobs as u32,
        rows_per_job: point.count("rows", i).unwrap_or(1_000_000),
        row_bytes: bytes("row") as u32,
        commit_every: point.count("commit_every", i).unwrap_or(1) as u32,
        mode: match point.word("job", i) {
            "copy" => rows::Mode::Copy { block_bytes: bytes("copy_block") },
            _ => rows::Mode::Update { read_first: point.flag("read_first", i) },
        },
    }
}

/// `a.sql`, or several with weights: `a.sql@3 + b.sql`.
fn scripts(point: &Point, i: usize, problems: &mut Problems) -> ScriptsSpec {
    let text = point.text("script", i);
    let mut scripts = Vec::new();
    for part in text.split(" + ").map(str::trim) {
        let (path, weight) = match part.rsplit_once('@') {
            Some((path, weight)) => (path, weight.parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0)),
            None => (part, Some(1.0)),
        };
        match weight {
            Some(weight) if !path.is_empty() => scripts.push((path.to_owned(), weight)),
            _ => {
                let message = format!("a path, or several with weights as `a.sql@3 + b.sql`, got `{part}`");
                point.refuse("script", i, message, problems);
            }
        }
    }
    if !scripts.iter().any(|(_, weight)| *weight > 0.0) {
        point.refuse("script", i, "at least one script with a weight above 0, got none", problems);
    }
    ScriptsSpec { scripts, define: definitions(point, i, problems), scale: point.count("scale", i).unwrap_or(1) }
}

fn definitions(point: &Point, i: usize, problems: &mut Problems) -> Vec<(String, String)> {
    let text = point.text("define", i);
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let mut list = Vec::new();
    for part in parts {
        match part.split_once('=') {
            Some((name, value)) => list.push((name.trim().to_owned(), value.trim().to_owned())),
            None => point.refuse("define", i, format!("NAME=VALUE with `;` between, got `{part}`"), problems),
        }
    }
    list
}

fn pool(point: &Point, i: usize) -> Pool {
    Pool {
        sessions: point.count("sessions", i).unwrap_or(1) as u32,
        how: Sessions {
            protocol: match point.word("protocol", i) {
                "simple" => Protocol::Simple,
                "extended" => Protocol::Extended,
                _ => Protocol::Prepared,
            },
            pipeline: point.flag("pipeline", i),
            isolation: match point.word("isolation", i) {
                "read-committed" => Isolation::ReadCommitted,
                "repeatable-read" => Isolation::RepeatableRead,
                "serializable" => Isolation::Serializable,
                _ => Isolation::Default,
            },
            tries: point.count("tries", i).unwrap_or(10) as u32,
        },
        check: point.flag("check", i),
        profile: point.flag("profile", i),
    }
}

fn load(point: &Point, i: usize, sessions: u32, problems: &mut Problems) -> LoadSpec {
    let (users, rate) = (point.count("users", i), point.setting("rate", i));
    if users.is_some() && rate.is_some() {
        point.refuse("rate", i, "a load has `users` or a `rate`, got both", problems);
    }
    if rate.is_some() || point.searched(i) {
        let arrivals = if point.word("arrivals", i) == "constant" { Arrivals::Constant } else { Arrivals::Poisson };
        let rate = point.rate("rate", i).unwrap_or(PerSecond(1.0));
        return LoadSpec::Open { rate, arrivals, slots: sessions };
    }
    let think = match (point.time("think", i), point.word("think_times", i)) {
        (None | Some(Nanos::ZERO), _) => Think::None,
        (Some(time), "exponential") => Think::Exponential(time),
        (Some(time), _) => Think::Constant(time),
    };
    LoadSpec::Closed { slots: users.map_or(sessions, |users| users as u32), think }
}

fn access(point: &Point, i: usize, sessions: u32, problems: &mut Problems) -> Access {
    let threads = point.count("threads", i).unwrap_or(1) as u32;
    if threads > sessions {
        let message = format!("at most as many threads as sessions, which are {sessions}, got {threads}");
        point.refuse("threads", i, message, problems);
    }
    Access {
        workers: threads.min(sessions),
        pin: point.flag("pin", i),
        pacing: if point.word("pacing", i) == "spin" { Pacing::Spin } else { Pacing::Sleep },
        ..Access::plain()
    }
}

/// The load of a stream of transactions in words.
pub(crate) fn load_words(stream: &Stream, pool: &Pool) -> String {
    match &stream.workload {
        Workload::Rows(spec) => format!("{} a transaction; {}", unit_words(spec), sessions_words(stream.load, pool)),
        _ => sessions_words(stream.load, pool),
    }
}

/// What one operation of a batch job is, from which rows a second follow.
fn unit_words(spec: &rows::Spec) -> String {
    let rows = spec.rows_per_arrival();
    let counted = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    match spec.mode {
        rows::Mode::Update { .. } => format!("{counted} of {} B", spec.row_bytes),
        rows::Mode::Copy { block_bytes } => format!("{counted}, a block of {},", units::bytes(Bytes(block_bytes))),
    }
}

fn sessions_words(load: LoadSpec, pool: &Pool) -> String {
    let sessions = if pool.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", pool.sessions) };
    match load {
        LoadSpec::Closed { slots, think } if think.mean() > Nanos::ZERO || slots != pool.sessions => {
            format!("{slots} users, {} mean think time, {sessions}", units::duration(think.mean()))
        }
        LoadSpec::Closed { .. } => format!("closed, {sessions}"),
        LoadSpec::Open { rate, arrivals, .. } => {
            let arrivals = if arrivals == Arrivals::Constant { "constant gaps" } else { "Poisson" };
            format!("open, {} {arrivals}, {sessions}", units::rate(rate.0))
        }
    }
}
