//! The caveats that need the whole run: what the generator can do, what the systems are, whether the plan was finished.

use crate::{Caveat, CaveatKind, PointSummary, RingsSummary, TrialSummary};
use observation::{Fact, RunFacts, SystemFacts, SystemKind, TrialLabel};
use study::Judgement;
use units::{counted, percent, rate};

/// Share of its own ceiling from which on the generator may be what is measured.
const CEILING_SHARE: f64 = 0.8;

/// Adds the caveats of the run to its trials, and takes back those that cannot be: a system without storage has no cache
/// in front of it.
pub fn add_to_trials(run: &RunFacts, trials: &mut [TrialSummary]) {
    let lesser: Vec<Option<String>> = trials.iter().map(|trial| lesser_ring(trial, trials)).collect();
    for (trial, lesser) in trials.iter_mut().zip(lesser) {
        let own = Some(trial.label.index);
        trial.caveats.extend(lesser.map(|text| Caveat { kind: CaveatKind::RingDiffers, trial: own, text }));
        if let Some(server) = trial.server.as_mut() {
            // Such a database runs inside the generator's process.
            server.embedded = system_of(run, &trial.label).is_some_and(|system| system.is(SystemKind::Sqlite));
        }
        if trial.server.as_ref().is_some_and(|server| server.embedded) {
            // The generator's CPU is the database's too: a busy thread does not blame the generator.
            trial.caveats.retain(|caveat| caveat.kind != CaveatKind::GeneratorBound);
        }
        if system_of(run, &trial.label).is_some_and(|system| !system.has_storage()) {
            trial.caveats.retain(|caveat| !matches!(caveat.kind, CaveatKind::Cached | CaveatKind::OtherWriters));
        }
        // What CPU an interrupted trial took was not summed up.
        let near = near_client_cost(run, trial).or_else(|| near_ceiling(run, trial));
        if let Some(text) = near.filter(|_| !trial.interrupted) {
            trial.caveats.retain(|caveat| caveat.kind != CaveatKind::GeneratorBound);
            trial.caveats.push(Caveat { kind: CaveatKind::GeneratorBound, trial: Some(trial.label.index), text });
        }
    }
}

/// Caveats of the run as a whole.
pub fn of_run(run: &RunFacts, trials: &[TrialSummary], planned: Option<u32>) -> Vec<Caveat> {
    let of_run = |kind, text| Caveat { kind, trial: None, text };
    let mut found = Vec::new();
    if !run.finished {
        found.push(of_run(CaveatKind::Unfinished, unfinished(trials, planned, run.running)));
    }
    found.extend(shared_devices(run).into_iter().map(|text| of_run(CaveatKind::SharedDevice, text)));
    found.extend(looped(run).map(|text| of_run(CaveatKind::Cached, text)));
    found.extend(plain_driver(run).map(|text| of_run(CaveatKind::PlainDriver, text)));
    found
}

/// Rates of the same point in two experiments that differ by more than this are told.
const TWICE_DIFFERS: f64 = 0.1;

/// Whether what was measured in two experiments, minutes apart, came out as another number: what the machine does by itself.
pub fn measured_twice(points: &[PointSummary], trials: &[TrialSummary], judgement: &Judgement) -> Option<Caveat> {
    let first = |point: &PointSummary| {
        let trial = trials.iter().find(|trial| point.trials.contains(&trial.label.index))?;
        (trial.label.streams.len() == 1).then_some(&trial.label)
    };
    let same = |a: &PointSummary, b: &PointSummary| {
        (&a.at.system, &a.at.stream, a.work) == (&b.at.system, &b.at.stream, b.work)
            && a.at.experiment != b.at.experiment
            && first(a).zip(first(b)).is_some_and(|(one, two)| one.state == two.state)
            && judgement.asks_alike([&a.at, &b.at])
    };
    let apart = |a: &PointSummary, b: &PointSummary| {
        let (a, b) = (&a.throughput_per_s, &b.throughput_per_s);
        let known = a.has_interval() && b.has_interval();
        let ratio = (a.value / b.value).max(b.value / a.value) - 1.0;
        (known && ratio > TWICE_DIFFERS && (a.high < b.low || b.high < a.low)).then_some(ratio)
    };
    let pairs = points.iter().enumerate().flat_map(|(at, a)| points[at + 1..].iter().map(move |b| (a, b)));
    let differ = pairs.filter_map(|(a, b)| Some((a, b, apart(a, b)?))).filter(|(a, b, _)| same(a, b));
    let (a, b, ratio) = differ.max_by(|one, other| one.2.total_cmp(&other.2))?;
    let load = first(a).map_or("", |label| &label.streams[0].load);
    let text = format!(
        "{} on {} ({load}) was measured twice: {} in `{}` and {} in `{}`; this machine varies by {} within minutes, so repeat \
         (`--set replicates=4`) before you trust a smaller difference",
        a.at.stream,
        a.at.system,
        a.work.rate(a.throughput_per_s.value),
        a.at.experiment,
        b.work.rate(b.throughput_per_s.value),
        b.at.experiment,
        percent(ratio)
    );
    Some(Caveat { kind: CaveatKind::MeasuredTwice, trial: None, text })
}

/// How far a run came that was not brought to its end.
fn unfinished(trials: &[TrialSummary], planned: Option<u32>, running: bool) -> String {
    let ended = trials.iter().filter(|trial| !trial.interrupted).count() as u64;
    let planned = planned.map(u64::from).filter(|planned| *planned >= ended.max(1));
    let so_far = match (ended, planned) {
        (0, None) => "no trial has ended".to_owned(),
        (0, Some(planned)) => format!("none of {} has ended", counted(planned, "planned trials")),
        (_, None) => format!("only {} ended", counted(ended, "trials")),
        (_, Some(planned)) => format!("only {ended} of {} ended", counted(planned, "planned trials")),
    };
    match running {
        true => format!("{so_far}, and it is still going on"),
        false => format!("{so_far}; `prony run --resume` goes on with the rest"),
    }
}

/// Every pair of systems that stands on a device in common.
fn shared_devices(run: &RunFacts) -> Vec<String> {
    let mut found = Vec::new();
    for (i, a) in run.systems.iter().enumerate() {
        found.extend(shared_tiers(a));
        // Layouts of one engine stand on the same tiers, and differ in what lies where.
        let laid = |b: &SystemFacts| a.kind == b.kind && a.layout().is_some() && b.layout().is_some();
        for b in run.systems[i + 1..].iter().filter(|b| !laid(b) && of_devices(a) && of_devices(b)) {
            let shared = a.devices().filter(|device| b.devices().any(|other| other == *device));
            if let Some(device) = shared.last() {
                found.push(format!(
                    "{} and {} stand on the same device {device}: they share its wear, its cache and its credit, and a \
                     difference between them is not one of devices; use two devices to compare devices",
                    a.name, b.name
                ));
            }
        }
    }
    found
}

/// Whether a system is compared for the devices that it stands on; databases that all lie on the disk of the cache are not.
fn of_devices(system: &SystemFacts) -> bool {
    system.is(SystemKind::File) || system.is(SystemKind::Device) || system.layout().is_some()
}

/// Both tiers of a layout on a device in common.
fn shared_tiers(system: &SystemFacts) -> Option<String> {
    let layout = system.layout()?;
    let [slow, fast] = [system.devices_of(0), system.devices_of(1)].map(|devices| devices.collect::<Vec<_>>());
    let device = slow.iter().rfind(|device| fast.contains(device))?;
    Some(format!(
        "both tiers of {} stand on the same device {device}: what the layout {layout} puts apart queues for one device all the \
         same; name folders on two devices, or emulate one with `--set slow=emulated:MODEL:DIR`",
        system.name
    ))
}

/// A loop device below storage whose own I/O is not direct: the page cache of its file answers, whoever asks directly above.
fn looped(run: &RunFacts) -> Option<String> {
    let mut storage = run.systems.iter().filter(|system| system.is(SystemKind::File) || system.is(SystemKind::Device));
    let cached = |system: &&SystemFacts, device: &&str| system.fact(&format!("disk.{device}.loop_direct")) == Some("0");
    let (name, device) = storage.find_map(|system| {
        let device = system.devices().find(|device| cached(&system, device))?;
        Some((&system.name, device))
    })?;
    Some(format!(
        "{name} stands on the loop device {device}, whose file is read and written through the page cache: its numbers may be those of memory; \
         `losetup --direct-io=on /dev/{device}` makes it direct"
    ))
}

/// Threads with pread and pwrite, where nobody asked for them: the description of the driver says so.
fn plain_driver(run: &RunFacts) -> Option<String> {
    let refused = run.systems.iter().filter(|system| system.uring_refused());
    let plain: Vec<&str> = refused.map(|system| &*system.name).collect();
    (!plain.is_empty()).then(|| {
        format!(
            "{} was driven by threads with pread and pwrite because io_uring is not allowed here: CPU per operation is \
             higher, and many outstanding need many threads; allow io_uring to measure without them",
            plain.join(" and ")
        )
    })
}

/// What the kernel gave the rings of another trial of the experiment, and not those of this one.
fn lesser_ring(trial: &TrialSummary, trials: &[TrialSummary]) -> Option<String> {
    type Has = fn(&RingsSummary) -> Option<f64>;
    let own = trial.generator.rings?;
    let beside = || trials.iter().filter(|other| other.label.experiment == trial.label.experiment);
    let buffers = "raise the limit on locked memory (`ulimit -l`)";
    let kernel = "see what the kernel refused";
    let has: [(&str, &str, Has); 3] = [
        ("buffers that the kernel knew beforehand", buffers, |rings| rings.registered_buffers),
        ("completions that run only when they are asked for", kernel, |rings| Some(rings.generation)),
        ("receives that wait before they look", kernel, |rings| rings.poll_first),
    ];
    has.into_iter().find_map(|(what, next, of)| {
        let had = beside().filter_map(|other| Some((other.label.index, of(&other.generator.rings?)?)));
        let (most, had) = had.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (of(&own)? < had).then(|| {
            format!(
                "the rings of trial {most} had {what}, and not all of this one's did: operations cost more here, and what the two \
                 differ by may be the driver's; {next}, and run it again"
            )
        })
    })
}

fn system_of<'a>(run: &'a RunFacts, label: &TrialLabel) -> Option<&'a SystemFacts> {
    run.systems.iter().find(|system| system.name == label.system)
}

/// Against what as many threads as were busy could issue to a null system.
fn near_ceiling(run: &RunFacts, trial: &TrialSummary) -> Option<String> {
    let ceiling = run.ceiling.filter(|ceiling| ceiling.null_operation_ns > 0.0)?;
    let possible = busy_threads(trial) * 1e9 / ceiling.null_operation_ns;
    let slots: Option<u32> = trial.label.streams.iter().map(|stream| stream.slots).sum();
    let more = slots.is_none_or(|slots| f64::from(slots) > busy_threads(trial));
    let next = if more { "more workers or larger transfers" } else { "larger transfers" };
    near(trial, possible, "itself can issue", next)
}

/// Against what as many threads as were busy could make of such transactions on a database that answers at once.
fn near_client_cost(run: &RunFacts, trial: &TrialSummary) -> Option<String> {
    let system = system_of(run, &trial.label)?;
    let possible = busy_threads(trial) * 1e6 / Fact::client_cost_us(system.client_cost(system.reached())?)?;
    let what = "makes of such transactions on a database that answers at once";
    near(trial, possible, what, "more threads, or a machine of its own")
}

/// Whether the rate of all streams is near what the generator could do, and what then helps.
fn near(trial: &TrialSummary, possible: f64, what: &str, next: &str) -> Option<String> {
    let seen: f64 = trial.streams.iter().map(|stream| stream.throughput_per_s.value).sum();
    (seen >= CEILING_SHARE * possible).then(|| {
        let (seen, share, most) = (rate(seen), percent(seen / possible), rate(possible));
        format!("{seen} is {share} of what the generator {what} ({most}): this measures the generator; give it {next}")
    })
}

/// Threads that the generator's CPU would have kept busy, rounded up.
fn busy_threads(trial: &TrialSummary) -> f64 {
    (trial.generator_cpu.total_s() / trial.elapsed_s.max(f64::MIN_POSITIVE)).ceil().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::run::tests::{judgement, trial};
    use observation::{Ceiling, CpuTime, Reached};

    fn system(name: &str, kind: &str, devices: &str) -> SystemFacts {
        let fact = Fact { key: "module.0.devices".to_owned(), value: devices.to_owned(), private: false };
        SystemFacts { name: name.to_owned(), kind: kind.to_owned(), fingerprint: vec![fact], ..SystemFacts::default() }
    }

    /// Jobs that one experiment varies by their number, and another by the rows of a commit: one job with one row a commit is in both.
    fn asked() -> study::Study {
        let experiment = |name: &str, varied: &str| {
            format!("[[experiment]]\nname = \"{name}\"\nworkload = \"update\"\nfactor.{varied}\n")
        };
        let text = format!(
            "title = \"t\"\nquestion = \"q\"\n[system.here]\nkind = \"sqlite\"\n[workload.update]\nkind = \"rows\"\n{}{}",
            experiment("jobs", "sessions = [1, 2]"),
            experiment("commits", "commit_every = [1, 10]")
        );
        study::Study::parse("t", &text).unwrap_or_else(|problems| panic!("{problems}"))
    }

    #[test]
    fn a_point_that_two_experiments_measured_under_different_keys_is_compared_with_itself() {
        let study = asked();
        let points = &study.judgement().points;
        let label = |experiment: &str, level: &str| {
            let is = |label: &&TrialLabel| label.experiment == experiment && label.factors[0].level.text() == level;
            points.iter().map(|point| &point.label).find(is).expect("its point")
        };
        let twice = |level: &str, second: f64, judgement: &Judgement| {
            let of = [(0, label("jobs", "1"), 10e3), (1, label("commits", level), second)];
            let trials = of.map(|(index, label, rate)| {
                let mut one = trial(index, "here", 0, rate);
                one.label = TrialLabel { index, ..label.clone() };
                one
            });
            let points = judge(RunFacts::default(), trials.to_vec(), judgement).points;
            measured_twice(&points, &trials, judgement)
        };
        let known = Judgement { points: points.clone(), ..judgement() };
        let text = twice("1", 7e3, &known).expect("the rates differ").text;
        assert!(text.contains("10 k IOPS in `jobs` and 7000 IOPS in `commits`"), "{text}");
        assert!(text.contains("varies by 42.9%"), "{text}");
        assert_eq!(twice("1", 9.7e3, &known), None, "less than a tenth");
        assert_eq!(twice("10", 7e3, &known), None, "ten rows a commit are asked for otherwise");
        assert_eq!(twice("1", 7e3, &judgement()), None, "who knows what was asked");
    }

    #[test]
    fn systems_on_one_device_are_told() {
        let run = RunFacts {
            finished: true,
            systems: vec![
                system("a", "file", "vda1 > vda"),
                system("b", "file", "vda2 > vda"),
                system("c", "file", "vdb"),
                // A database in the cache of Prony lies where that does, and nobody compares disks by it.
                system("d", "sqlite", "vda1 > vda"),
            ],
            ..RunFacts::default()
        };
        let found = of_run(&run, &[], None);
        assert_eq!(found.iter().map(|c| c.kind).collect::<Vec<_>>(), [CaveatKind::SharedDevice]);
        assert!(found[0].text.starts_with("a and b stand on the same device vda"));
    }

    #[test]
    fn a_loop_device_with_a_page_cache_below_it_is_doubted_and_one_without_is_not() {
        let with = |direct: &str| {
            let mut one = system("a", "file", "loop0 > vda");
            let (key, value) = ("disk.loop0.loop_direct".to_owned(), direct.to_owned());
            one.fingerprint.push(Fact { key, value, private: false });
            of_run(&RunFacts { finished: true, systems: vec![one], ..RunFacts::default() }, &[], None)
        };
        let found = with("0");
        assert_eq!(found.iter().map(|caveat| caveat.kind).collect::<Vec<_>>(), [CaveatKind::Cached]);
        assert!(found[0].text.contains("the loop device loop0"), "{}", found[0].text);
        assert_eq!(with("1"), []);
    }

    #[test]
    fn a_system_without_storage_is_bound_by_the_generator_and_never_cached() {
        let ceiling = Ceiling { null_operation_ns: 50.0, ..Ceiling::default() };
        let run = RunFacts {
            finished: true,
            systems: vec![system("a", "null", "not observed")],
            ceiling: Some(ceiling),
            ..RunFacts::default()
        };
        let mut fast = trial(0, "a", 0, 18e6);
        fast.generator_cpu.user_s = 7.0;
        fast.caveats.push(Caveat { kind: CaveatKind::Cached, trial: Some(0), text: "fast".to_owned() });
        let findings = judge(run, vec![fast], &judgement());
        let kinds: Vec<CaveatKind> = findings.trials[0].caveats.iter().map(|c| c.kind).collect();
        assert_eq!(kinds, [CaveatKind::GeneratorBound]);
        assert!(findings.points[0].caveats[0].text.contains("90% of what the generator itself can issue (20 M/s)"));
        assert!(findings.doubts[0].starts_with("18 M/s is 90%"), "{:?}", findings.doubts);
    }

    #[test]
    fn a_trial_whose_rings_had_less_than_those_of_another_in_its_experiment_is_doubted() {
        let full = RingsSummary { generation: 3.0, registered_buffers: Some(1.0), poll_first: None };
        let plain = RingsSummary { registered_buffers: Some(0.5), ..full };
        let old = RingsSummary { generation: 1.0, ..full };
        let sockets = RingsSummary { registered_buffers: None, poll_first: Some(1.0), ..full };
        let doubted = |rings: &[RingsSummary]| {
            let mut trials: Vec<TrialSummary> = (0..).zip(rings).map(|(at, _)| trial(at, "a", at, 1.0)).collect();
            trials.iter_mut().zip(rings).for_each(|(trial, rings)| trial.generator.rings = Some(*rings));
            trials[0].label.experiment = "another".to_owned();
            let findings = judge(RunFacts { finished: true, ..RunFacts::default() }, trials, &judgement());
            let differs = |caveat: &&Caveat| caveat.kind == CaveatKind::RingDiffers;
            findings
                .caveats
                .iter()
                .filter(differs)
                .map(|caveat| (caveat.trial, caveat.text.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(doubted(&[plain, full, full, sockets]), []);
        let of_buffers = doubted(&[full, full, plain]);
        assert_eq!(of_buffers.len(), 1);
        assert_eq!(of_buffers[0].0, Some(2));
        assert!(
            of_buffers[0]
                .1
                .starts_with("the rings of trial 1 had buffers that the kernel knew beforehand, and not all")
        );
        assert!(doubted(&[full, old, full])[0].1.contains("completions that run only when"));
    }

    #[test]
    fn a_rate_near_what_the_generator_makes_of_the_same_transactions_is_the_generators() {
        let bound = |place: &str, rate: f64, cpu_s: f64| {
            let mut null = SystemFacts { place: place.to_owned(), ..system("a", "null-database", "not observed") };
            let costs = [(Reached::InProcess, 10.0), (Reached::OverSocket, 100.0)];
            null.fingerprint.extend(costs.map(|(reached, cost_us)| Fact::client_cost(reached, cost_us)));
            let run = RunFacts { finished: true, systems: vec![null], ..RunFacts::default() };
            let mut trial = trial(0, "a", 0, rate);
            trial.generator_cpu = CpuTime { user_s: cpu_s * trial.elapsed_s, system_s: 0.0 };
            near_client_cost(&run, &trial)
        };
        // One busy thread makes 100,000 a second at most, two make twice as many, and a socket makes it a tenth.
        assert!(
            bound("answers at once, in this process", 90e3, 1.0)
                .is_some_and(|text| text.contains("90% of what the generator makes"))
        );
        assert_eq!(bound("answers at once, in this process", 70e3, 1.0), None);
        assert_eq!(bound("answers at once, in this process", 90e3, 2.0), None);
        assert!(bound("answers at once, over a loopback socket", 9e3, 1.0).is_some());
    }

    #[test]
    fn a_driver_that_was_forced_is_told_and_one_that_was_chosen_is_not() {
        let driven = |driver: &str| {
            let system = SystemFacts { driver: driver.to_owned(), ..system("a", "file", "vdb") };
            of_run(&RunFacts { finished: true, systems: vec![system], ..RunFacts::default() }, &[], None)
        };
        assert_eq!(
            driven("plain pread and pwrite; io_uring is not allowed here (EPERM)")[0].kind,
            CaveatKind::PlainDriver
        );
        assert_eq!(driven("plain pread and pwrite, direct"), vec![]);
    }

    #[test]
    fn an_unfinished_run_says_how_to_go_on() {
        let found = of_run(&RunFacts::default(), &[], None);
        assert_eq!(found[0].text, "no trial has ended; `prony run --resume` goes on with the rest");
        let text =
            |n: u32, planned| unfinished(&(0..n).map(|i| trial(i, "a", i, 1.0)).collect::<Vec<_>>(), planned, false);
        assert!(text(3, Some(20)).contains("only 3 of 20 planned trials ended"));
        assert!(text(1, None).contains("only 1 trial ended"));
        assert!(text(0, Some(1)).contains("none of 1 planned trial has ended"));
        assert!(text(3, Some(2)).contains("only 3 trials ended"), "repeats may follow what was planned");
    }
}
