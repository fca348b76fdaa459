//! The sessions of a stream of transactions, and the server that they talk to.

use crate::keys::session::{
    CHECK, ISOLATION, LATENCY_LIMIT, ON_ERROR, ON_OUTAGE, PIPELINE, PROFILE, PROTOCOL, RECOVERY, REOPEN, SERVER, TRIES,
};
use crate::point::{Point, StreamSettings};
use crate::{At, Engine, Isolation, Place, Pool, Sessions, placing, server_settings};
use reading::{AnyKey, Problems};
use std::any::Any;
use units::Bytes;
use workload::brokerage::PROCEDURES;
use workload::kind::{SESSIONS, Transactions};
use workload::rows::{self, keys::ACCESS};
use workload::sql;
use workload::sql::keys::{PARTITIONS, pairs};

/// The sessions of a stream.
pub(crate) fn pool(point: &Point, i: usize, asked: &dyn Transactions, problems: &mut Problems) -> Pool {
    let of_rows = (asked as &dyn Any).is::<rows::Spec>();
    // Whatever is asked of a database that answers at once, it is the generator's own cost.
    let answers = |engine: Engine| engine.language().is_some() || of_rows && engine == Engine::Null;
    if let (true, Place::Database(spec)) = (asked.calls_procedures(), &point.spec().place)
        && !answers(spec.engine)
    {
        let (key, got): (&dyn AnyKey, _) = if of_rows { (&ACCESS, "procedure") } else { (&PROCEDURES, "true") };
        let engine = spec.engine.word();
        let message = format!("procedures run on PostgreSQL and MariaDB; {engine} has no stored procedures, got {got}");
        point.refuse(key, i, message, problems);
    }
    if let Some(scripts) = (asked as &dyn Any).downcast_ref::<sql::Asked>() {
        partitions(point, i, scripts, problems);
    }
    let isolation = point.get(&ISOLATION, i);
    // A run of an earlier version was taken as it was.
    if let (Isolation::ReadCommitted | Isolation::RepeatableRead, Place::Database(spec), false) =
        (isolation, &point.spec().place, problems.has_run)
        && spec.engine == Engine::Sqlite
    {
        let got = point.setting(&ISOLATION, i).map_or("", |(_, chosen)| &chosen.text);
        let message =
            format!("`default` or `serializable` on SQLite, whose transactions are always serializable, got `{got}`");
        point.refuse(&ISOLATION, i, message, problems);
    }
    let reopen = point.get(&REOPEN, i) as u32;
    let embedded = matches!(&point.spec().place, Place::Database(spec) if spec.engine == Engine::Sqlite);
    if reopen > 0 && embedded {
        let message = format!("0 on SQLite, which has no connections to open anew, got {reopen}");
        point.refuse(&REOPEN, i, message, problems);
    }
    Pool {
        sessions: point.get(&SESSIONS, i) as u32,
        how: Sessions {
            protocol: point.get(&PROTOCOL, i),
            pipeline: point.get(&PIPELINE, i),
            isolation,
            tries: point.get(&TRIES, i) as u32,
            node: 0,
            reopen,
        },
        on_error: point.get(&ON_ERROR, i),
        check: point.get(&CHECK, i),
        recovery: point.get(&RECOVERY, i),
        waits: point.get(&ON_OUTAGE, i),
        profile: point.get(&PROFILE, i),
        limit: point.get(&LATENCY_LIMIT, i),
    }
}

/// Partitions are of tables that the fill makes, on engines that divide tables.
fn partitions(point: &Point, i: usize, asked: &sql::Asked, problems: &mut Problems) {
    let (Some((count, _)), Place::Database(spec)) = (asked.partitions, &point.spec().place) else { return };
    let theirs = matches!(spec.at, At::Url(_));
    let why = match spec.engine {
        _ if !asked.built_in() => "none for scripts of your own, whose tables are made by you",
        _ if theirs => "none on a server by URL, where `pgbench -i --partitions` makes the tables",
        Engine::Sqlite => "0 on SQLite, which divides no tables",
        _ if spec.layout.is_some() => "none beside a layout, which places whole tables",
        _ => return,
    };
    point.refuse(&PARTITIONS, i, format!("{why}, got {count}"), problems);
}

/// Settings of the server at a point: `shared_buffers=1GB; work_mem=4MB`.
pub(crate) fn server(point: &Point, problems: &mut Problems) -> Vec<(String, String)> {
    if !matches!(point.spec().place, Place::Database(_)) {
        return Vec::new();
    }
    let refused = |part: &str| format!("a list of SETTING=VALUE with `;` between, got `{part}`");
    let mut settings = StreamSettings { point, stream: 0, problems };
    let mut said = pairs(&mut settings, &SERVER, &point.get(&SERVER, 0), refused);
    if let Some(more) = placing::memory(point) {
        let is_buffer = |(name, _): &&mut (String, String)| name == BUFFER;
        // The default of the server, as its documentation says it.
        let now = said.iter_mut().find(is_buffer).and_then(|(_, value)| units::parse_bytes(value).ok());
        let now = now.unwrap_or(Bytes::mib(128));
        said.retain(|(name, _)| name != BUFFER);
        said.push((BUFFER.to_owned(), format!("{}kB", (now.0 + more.0) >> 10)));
    }
    said
}

/// What PostgreSQL calls its buffer.
const BUFFER: &str = "shared_buffers";

/// Settings that could do more to a private server than move its performance, and those that SQLite does not have.
pub(crate) fn refuse_unlisted(point: &Point, settings: &[(String, String)], problems: &mut Problems) {
    let Place::Database(spec) = &point.spec().place else { return };
    for message in settings.iter().filter_map(|(name, value)| server_settings::refusal(spec, name, value)) {
        point.refuse(&SERVER, 0, message, problems);
    }
}
