//! What transactions cost, and whether their data is right, as sentences.
//!
//! The one idea: throughput for each core and CPU for each transaction let two machines be compared; the checks say whether
//! the figures may be used at all, so both stand beside them.

use super::conclusion::{Conclusion, Tone};
use super::curve::Sweep;
use super::mix::{Quoted, quoted, quoted_servers};
use super::quantity::Quantity;
use analysis::{
    Bound, BoundBy, Estimate, Findings, Jobs, MachineSummary, PerTransaction, ServerSummary, TrialSummary, Work, bound,
};
use observation::{EventKind, Reached, SystemKind};

/// The sentences of every curve of transactions.
pub fn conclusions(findings: &Findings, sweep: &Sweep) -> Vec<Conclusion> {
    let all = quoted(findings, sweep);
    let servers = quoted_servers(findings, sweep);
    let costs = servers.iter().filter_map(|quoted| Some(quoted.says_of_all("cost", &cost(findings, quoted)?)));
    let checks = all.iter().flat_map(|quoted| checks(findings, sweep, quoted));
    let off = all.iter().filter_map(off_plan);
    let bounds = all.iter().filter(|quoted| !quoted.stream.yields.is_empty());
    let bounds = bounds.filter_map(|quoted| {
        Some(quoted.says("bound by", &bound_by(&bound(quoted.trial, quoted.stream)?, &quoted.trial.machine)))
    });
    let jobs = all.iter().filter_map(|quoted| Some(quoted.says("longest job", &longest(&quoted.trial.jobs?))));
    let requests =
        all.iter().filter(|quoted| findings.comparisons().next().is_none() && !quoted.stream.yields.is_empty());
    let requests = requests.filter_map(|quoted| Some(quoted.says("request time", &request(quoted)?)));
    let tries = all.iter().filter_map(|quoted| Some(quoted.says("tried again", &tried_again(quoted)?)));
    let limits = all.iter().filter_map(|quoted| Some(quoted.says("latency limit", &missed(quoted)?)));
    bounds.chain(jobs).chain(requests).chain(limits).chain(tries).chain(costs).chain(off).chain(checks).collect()
}

/// `1,263 of 2,754 tries (45.9%) were thrown away ..`: what the database did for them is in its costs and in no throughput.
fn tried_again(quoted: &Quoted) -> Option<String> {
    // How old what was seen was is a class, too, and no transaction.
    let age = quoted.stream.age(&quoted.trial.label);
    let transactions = || quoted.stream.classes.iter().filter(|class| age.is_none_or(|age| age.name != class.name));
    let retried = transactions().map(|class| class.retried).sum::<u64>();
    let done = transactions().map(|class| class.done).sum::<u64>();
    let tries = units::counted(done + retried, "tries");
    let share = Quantity::Share.text(retried as f64 / (done + retried) as f64);
    (retried > 0).then(|| {
        format!(
            "{} of {tries} ({share}) were thrown away for a conflict or a deadlock and begun anew; each took the database's time",
            units::count(retried)
        )
    })
}

/// `1,204 transactions took over 50 ms (3.1%, 2.8% to 3.4%); 512 were skipped (1.3%, ..)`.
fn missed(quoted: &Quoted) -> Option<String> {
    let limit = quoted.stream.limit.as_ref()?;
    let share = |share: Estimate| {
        let of = |value: f64| Quantity::Share.text(value);
        let known =
            if share.has_interval() { format!(", {} to {}", of(share.low), of(share.high)) } else { String::new() };
        format!("({}{known})", of(share.value))
    };
    let late = units::counted(limit.late, "transactions");
    let late = format!("{late} took {} {}", limit.words, share(limit.late_share));
    let skipped = limit.skipped.zip(limit.skipped_share);
    let skipped = skipped.map(|(count, of_all)| {
        format!("; {} skipped {}, because they could only begin later than that", were(count), share(of_all))
    });
    Some(late + &skipped.unwrap_or_default())
}

fn were(count: u64) -> String {
    format!("{} {}", units::count(count), if count == 1 { "was" } else { "were" })
}

/// `406 /s for each of 2 cores; a transaction takes 1.6 ms of the server's CPU ...`.
fn cost(findings: &Findings, quoted: &Quoted) -> Option<String> {
    let server = quoted.trial.server.as_ref()?;
    let parts = [
        cores(quoted.trial, server),
        cpu(quoted, server),
        generator(findings, quoted.trial),
        moved(&server.per_transaction),
        buffer(server),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join("; "))
}

/// Where nothing else is full, so large a share of cores that are idle while I/O is waited for points at storage.
const IDLE_FOR_STORAGE: f64 = 0.25;

/// `the log: 20% of the cores are busy; of the time in all sessions at most 61% is commits, 3% reads from storage`.
fn bound_by(bound: &Bound, machine: &MachineSummary) -> String {
    let share = |share: Option<f64>, words: &str| share.map(|share| format!("{} {words}", Quantity::Share.text(share)));
    let station = bound.station.as_ref().map(|(name, busy)| match bound.by {
        BoundBy::Station => format!("it has work {} of the time", Quantity::Share.text(*busy)),
        _ => format!("the busiest station, {name}, does {} of what it can", Quantity::Share.text(*busy)),
    });
    let own = share(bound.own_cpu.filter(|own| bound.cpu.is_some_and(|cpu| cpu - own > 0.05)), "by the study itself");
    let own = own.map(|own| format!(" ({own})")).unwrap_or_default();
    let most = if bound.commits_at_most { "at most " } else { "" };
    let of_time = [
        (most, bound.commits, "commits"),
        ("", bound.reads, "reads from storage"),
        ("", bound.locks, "waits for locks"),
    ];
    let of_time = of_time.into_iter().filter_map(|(most, part, what)| Some(format!("{most}{}", share(part, what)?)));
    let of_time: Vec<String> = of_time.collect();
    let waits = share(bound.waits.filter(|waits| *waits > 0.05), "of the latency is the wait for a session");
    let cpu = share(bound.cpu, "of the cores are busy").map(|cpu| format!("{cpu}{own}"));
    // A device is full where it is asked for more at once than it does, and nobody counts that; who waits for it is seen.
    let idle = machine.cpu_iowait_cores.zip(machine.cores).map(|(idle, cores)| idle / f64::from(cores));
    let idle = idle.filter(|idle| bound.by == BoundBy::Nothing && *idle >= IDLE_FOR_STORAGE);
    let idle = share(idle, "of the cores were idle while I/O was waited for");
    let waits_for_storage = idle.is_some();
    let known = [
        cpu,
        station,
        (!of_time.is_empty()).then(|| format!("of the time in all sessions {}", of_time.join(", "))),
        waits,
        idle,
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let what = match (bound.by, &bound.station) {
        (BoundBy::Processors, _) => "the processors",
        (BoundBy::Others, _) => "other programs on the processors",
        (BoundBy::Log, _) => "the log",
        (BoundBy::Reads, _) => "reads from storage",
        (BoundBy::Locks, _) => "locks",
        (BoundBy::Station, Some((name, _))) => name,
        (BoundBy::Sessions, _) => "the number of sessions",
        (BoundBy::Nothing, _) if waits_for_storage => "perhaps the storage",
        (BoundBy::Station | BoundBy::Nothing, _) => "no resource is saturated",
    };
    format!("{what}: {}", known.join("; "))
}

/// What the database has of response, on the mean: `12 ms, 40% of response`. Between systems it is compared.
fn request(quoted: &Quoted) -> Option<String> {
    let (service, response) = (quoted.stream.service.mean_ms, quoted.stream.response.mean_ms);
    let share = Quantity::Share.text(service / response);
    let told = || {
        format!(
            "requests of a transaction take {}, {share} of its latency, from sending to answer",
            Quantity::Milliseconds.text(service)
        )
    };
    (service > 0.0 && response > 0.0).then(told)
}

/// `9.1 s, 1.04 times the mean`.
fn longest(jobs: &Jobs) -> String {
    let times = Quantity::Ratio.text(jobs.longest_s / jobs.mean_s);
    format!("{} until it waited for others, {times} times the mean of all jobs", Quantity::Seconds.text(jobs.longest_s))
}

fn cores(trial: &TrialSummary, server: &ServerSummary) -> Option<String> {
    let rate = Work::Transactions.rate(server.per_machine_core_per_s?);
    let all = match trial.machine.cores? {
        1 => "the machine's one core".to_owned(),
        cores => format!("each of the machine's {cores} cores"),
    };
    Some(format!("{rate} for {all}"))
}

fn cpu(quoted: &Quoted, server: &ServerSummary) -> Option<String> {
    let client = quoted.stream.cpu.map(|cpu| Quantity::Microseconds.text(cpu.user_us + cpu.system_us));
    if server.embedded {
        return Some(format!(
            "a transaction takes {} of CPU, database and generator together, because the database runs inside the \
             generator's process",
            client?
        ));
    }
    let own = Quantity::Milliseconds.text(server.per_transaction.cpu_ms?);
    let streams = quoted.of_streams();
    let one = if streams.is_empty() { "a transaction".to_owned() } else { format!("the mean transaction{streams}") };
    let busy = server
        .per_server_core_per_s
        .map(|rate| format!(" ({} for each core that it kept busy)", Work::Transactions.rate(rate)));
    let client = client.map(|client| format!(" and {client} of the generator's"));
    Some(format!("{one} takes {own} of the server's CPU{}{}", busy.unwrap_or_default(), client.unwrap_or_default()))
}

/// What the generator needs for such a transaction when the database needs nothing, by the facts of the system.
fn generator(findings: &Findings, trial: &TrialSummary) -> Option<String> {
    let system = findings.run.systems.iter().find(|system| system.name == trial.label.system)?;
    let here = system.client_cost(Reached::InProcess)?;
    Some(format!(
        "against a database in its own process that answers at once, the load generator takes {here} of CPU a transaction; the rest of its CPU \
         is what sockets take"
    ))
}

/// Where the disk below the data is watched, what it moved is told, for whomever: a process is charged for whole blocks of the page
/// cache.
fn moved(each: &PerTransaction) -> Option<String> {
    let parts = [(each.bytes_read, "read"), (each.bytes_written, "written")];
    let told = |(bytes, what): &(Option<f64>, &str)| Some(format!("{} {what}", Quantity::Bytes.text((*bytes)?)));
    let moved: Vec<String> = parts.iter().filter_map(told).collect();
    let disk = if each.device_writes.is_some() { " on the disk below the data, by all programs" } else { "" };
    let moved = (!moved.is_empty()).then(|| format!("{}{disk}", moved.join(" and ")));
    let log = each.log_bytes.map(|log| format!("{} of log", Quantity::Bytes.text(log)));
    let known: Vec<String> = moved.into_iter().chain(log).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn buffer(server: &ServerSummary) -> Option<String> {
    server
        .buffer_hit_share
        .map(|share| format!("{} of pages found in the server's buffer", Quantity::Share.text(share)))
}

/// Classes whose share is off the plan: a rate that holds with another mix is another rate.
fn off_plan(quoted: &Quoted) -> Option<Conclusion> {
    let off = quoted.stream.classes.iter().filter(|class| class.mix.mix_ok == Some(false));
    let names: Vec<&str> = off.map(|class| class.name.as_str()).collect();
    let says = format!("the share is not the planned one: {}", names.join(", "));
    (!names.is_empty()).then(|| Conclusion { tone: Tone::Bad, ..quoted.says("mix", &says) })
}

/// What was found about the data: of the quoted trial in words, and of how many others the same was not doubted.
fn checks(findings: &Findings, sweep: &Sweep, quoted: &Quoted) -> Vec<Conclusion> {
    let kind = |kind: EventKind| quoted.trial.events.iter().filter(move |event| event.kind == kind);
    let notes: Vec<&str> = kind(EventKind::Note).map(|event| event.text.as_str()).collect();
    let damage: Vec<&str> = kind(EventKind::Damage).map(|event| event.text.as_str()).collect();
    let mut found = Vec::new();
    if !damage.is_empty() {
        found.push(Conclusion { tone: Tone::Bad, ..quoted.says("damaged data", &damage.join("; ")) });
    }
    if !notes.is_empty() {
        let says = format!("{}{}", notes.join("; "), others(findings, sweep, quoted));
        found.push(quoted.says("data", &says));
    }
    found
}

/// Trials of the same experiment and system without damage, beside the quoted one.
fn others(findings: &Findings, sweep: &Sweep, quoted: &Quoted) -> String {
    let own = &quoted.trial.label;
    let mut systems = findings.run.systems.iter().filter(|system| system.name == own.system);
    if systems.any(|system| system.is(SystemKind::NullDatabase)) {
        // It has no data that could be damaged.
        return String::new();
    }
    let beside = findings.trials.iter().filter(|trial| {
        let label = &trial.label;
        label.experiment == sweep.experiment
            && label.system == own.system
            && label.index != own.index
            && !trial.interrupted
    });
    let (bad, good): (Vec<_>, Vec<_>) = beside
        .filter(|trial| trial.events.iter().any(|event| matches!(event.kind, EventKind::Note | EventKind::Damage)))
        .partition(|trial| trial.events.iter().any(|event| event.kind == EventKind::Damage));
    match (good.len(), bad.len()) {
        (0, 0) => String::new(),
        (good, 0) => format!("; data also intact after {good} other {}", if good == 1 { "trial" } else { "trials" }),
        (_, bad) => format!("; damage after {bad} other {}", if bad == 1 { "trial" } else { "trials" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_named_where_nothing_else_is_full_and_cores_are_idle_while_io_is_waited_for() {
        let bound = |by| Bound {
            by,
            station: None,
            cpu: Some(0.05),
            own_cpu: Some(0.02),
            commits: None,
            commits_at_most: false,
            reads: None,
            locks: Some(0.23),
            sessions: None,
            waits: None,
        };
        let machine =
            |idle| MachineSummary { cores: Some(2), cpu_iowait_cores: Some(idle), ..MachineSummary::default() };
        let told = "perhaps the storage: 5% of the cores are busy; of the time in all sessions 23% waits for locks; 65% of the cores \
                    were idle while I/O was waited for";
        assert_eq!(bound_by(&bound(BoundBy::Nothing), &machine(1.3)), told);
        assert!(bound_by(&bound(BoundBy::Nothing), &machine(0.1)).starts_with("no resource is saturated: 5% "));
        assert!(!bound_by(&bound(BoundBy::Locks), &machine(1.3)).contains("idle"));
    }
}
