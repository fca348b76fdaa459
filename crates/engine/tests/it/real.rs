//! Real files, rings and threads. Nothing here asserts on time.

use crate::bench::{Folder, access, blocks, closed, done, open, run, stream, trial, try_run};
use engine::{TrialError, Unobserved, run_trial};
use observation::{EventKind, Whole};
use std::sync::atomic::AtomicBool;
use study::{Driver, Storage, SyncMode};
use units::{Bytes, Nanos};
use workload::{block, files};

const SHORT: Nanos = Nanos(200_000_000);

#[test]
fn a_ring_and_a_thread_move_the_same_kind_of_data_and_their_books_close() {
    for driver in [Driver::Auto, Driver::Plain] {
        let folder = Folder::new(&format!("{driver:?}"));
        let mut opened = open(folder.place(), 2);
        let mut stream = stream(Storage::Block(blocks(0.5)), closed(8));
        access(&mut stream).driver = driver;
        let mut trial = trial(vec![stream], SHORT);
        trial.modules = 2;
        let observations = run(&mut opened, &trial);
        let account = observations.accounts[0];
        assert!(account.closes() && account.planned > 0, "{account:?}");
        assert_eq!((account.failed, account.censored), (0, 0));
        assert!(done(&observations) > 0);
        let bytes: u64 = observations.window_cells().map(|cell| cell.tally.bytes).sum();
        assert_eq!(bytes, 4096 * done(&observations));
        assert!(account.slots_ns > 0 && account.service_ns <= account.slots_ns);
        drop(opened);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "scratch files are removed");
    }
}

#[test]
fn a_ring_tells_how_long_it_went_between_two_looks_at_what_had_ended_and_blocking_calls_have_none() {
    let folder = Folder::new("looks");
    let mut opened = open(folder.place(), 1);
    let mut looks = |driver: Driver, slots: u32| {
        let mut stream = stream(Storage::Block(blocks(0.5)), closed(slots));
        access(&mut stream).driver = driver;
        let seen = run(&mut opened, &trial(vec![stream], SHORT));
        [Whole::LooksMean, Whole::LooksP99, Whole::LooksMax]
            .map(|what| seen.series_of(&what.into()).map(|series| series.points.last().unwrap().1))
    };
    assert_eq!(looks(Driver::Plain, 4), [None; 3]);
    if engine::ring_allowed() {
        let [Some(mean), Some(p99), Some(max)] = looks(Driver::Uring, 32) else { panic!("no looks") };
        assert!(mean > 0.0 && mean <= max && p99 <= max, "{mean} {p99} {max}");
    }
}

#[test]
fn several_streams_with_their_own_workers_run_at_once() {
    let folder = Folder::new("streams");
    let mut opened = open(folder.place(), 1);
    let mut reader = stream(Storage::Block(blocks(1.0)), closed(4));
    reader.threads.count = 2;
    let mut writer = stream(Storage::Block(blocks(0.0)), closed(1));
    access(&mut writer).sync = SyncMode::Every(3);
    let observations = run(&mut opened, &trial(vec![reader, writer], SHORT));
    assert_eq!(observations.generators, 3);
    let cells = || observations.window_cells();
    let of = |stream, class| cells().filter(move |cell| cell.key.stream == stream && cell.key.class == class);
    let class = |stream, class| of(stream, class).map(|cell| cell.response.count()).sum::<u64>();
    assert!(class(0, 0) > 0 && class(1, 1) > 0 && class(1, 2) > 0);
    assert_eq!((class(0, 1), class(1, 0)), (0, 0));
    assert!(class(1, 1) >= 3 * (class(1, 2) - 1), "a sync comes after every three writes");
}

#[test]
fn syncs_after_writes_take_none_of_the_operations_that_were_asked_for() {
    for driver in [Driver::Auto, Driver::Plain] {
        let folder = Folder::new(&format!("syncs-{driver:?}"));
        let mut opened = open(folder.place(), 1);
        let mut writer = stream(Storage::Block(blocks(0.0)), closed(1));
        access(&mut writer).sync = SyncMode::Every(4);
        access(&mut writer).driver = driver;
        writer.operations_mut().unwrap().count = Some(40);
        // The count ends the trial; the window is only as long as a slow disk could need.
        let observations = run(&mut opened, &trial(vec![writer], Nanos::from_secs(60)));
        let account = observations.accounts[0];
        assert!(account.closes());
        let tally =
            |class| observations.cells.iter().filter(|c| c.key.class == class).map(|c| c.tally.done).sum::<u64>();
        assert_eq!((tally(1), tally(2)), (40, 10), "forty writes, and a sync after every fourth");
    }
}

#[test]
fn durable_writes_are_carried_out_by_both_roads() {
    let roads =
        [Driver::Uring, Driver::Plain].into_iter().filter(|road| *road == Driver::Plain || engine::ring_allowed());
    for (driver, sync) in roads.flat_map(|road| [(road, SyncMode::Each), (road, SyncMode::Whole)]) {
        let folder = Folder::new(&format!("durable-{driver:?}-{sync:?}"));
        let mut opened = open(folder.place(), 1);
        let mut writer = stream(Storage::Block(blocks(0.0)), closed(1));
        access(&mut writer).sync = sync;
        access(&mut writer).driver = driver;
        let observations = run(&mut opened, &trial(vec![writer], SHORT));
        assert!(observations.accounts[0].closes() && done(&observations) > 0);
    }
}

#[test]
fn a_thread_of_the_kernel_carries_what_it_finds_on_a_ring() {
    if !engine::ring_allowed() {
        return;
    }
    let folder = Folder::new("sqpoll");
    let mut opened = open(folder.place(), 1);
    let mut both = stream(Storage::Block(blocks(0.5)), closed(8));
    (access(&mut both).driver, access(&mut both).sqpoll, access(&mut both).validate) = (Driver::Uring, true, true);
    let observations = run(&mut opened, &trial(vec![both], SHORT));
    let account = observations.accounts[0];
    assert!(account.closes() && account.failed + account.censored == 0, "{account:?}");
    assert!(done(&observations) > 0 && observations.validated_reads > 0);
    assert!(observations.events.iter().all(|event| event.kind != EventKind::Damage), "{:?}", observations.events);
}

/// A fixed amount of work on each of the 1,024 blocks of a module.
fn on_every_block(read: f64, trims: f64, driver: Driver) -> study::Stream {
    let spec = block::Spec { pattern: block::Pattern::RandomOnce, trims: units::Share(trims), ..blocks(read) };
    let mut stream = stream(Storage::Block(spec), closed(4));
    access(&mut stream).driver = driver;
    stream.operations_mut().unwrap().count = Some(1_024);
    stream
}

#[test]
fn what_is_trimmed_reads_as_zeroes_and_is_filled_again_before_reads_are_checked() {
    for driver in [Driver::Auto, Driver::Plain] {
        let folder = Folder::new(&format!("trims-{driver:?}"));
        let mut opened = open(folder.place(), 1);
        let mut window = |stream| run(&mut opened, &trial(vec![stream], Nanos::from_secs(60)));
        let data = || {
            let home = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
            let files = std::fs::read_dir(home).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
            files.max_by_key(Vec::len).unwrap()
        };
        window(on_every_block(0.0, 0.0, driver));
        assert!(data().chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "each block was written");
        let seen = window(on_every_block(0.0, 1.0, driver));
        let trims = seen.cells.iter().filter(|cell| cell.key.class == block::TRIM);
        let (done, bytes) =
            trims.fold((0, 0), |(done, bytes), cell| (done + cell.tally.done, bytes + cell.tally.bytes));
        assert_eq!((done, bytes), (1_024, 0), "a trim moves nothing");
        assert!(data().iter().all(|byte| *byte == 0));
        let mut reader = on_every_block(1.0, 0.0, driver);
        access(&mut reader).validate = true;
        let seen = window(reader);
        assert_eq!(seen.validated_reads, 1_024);
        assert!(seen.events.iter().all(|event| event.kind != EventKind::Damage), "{:?}", seen.events);
    }
}

/// What a trial says of the driver of its single operations.
fn said(trial_events: &[observation::Event]) -> Vec<&str> {
    trial_events.iter().map(|event| &*event.text).filter(|text| text.contains("single operations go by")).collect()
}

#[test]
fn one_outstanding_operation_a_worker_says_which_driver_carried_it_and_two_say_nothing() {
    let folder = Folder::new("single");
    let mut opened = open(folder.place(), 1);
    let mut reads = |slots: u32, workers: u32, driver: Driver| {
        let mut stream = stream(Storage::Block(blocks(1.0)), closed(slots));
        (stream.threads.count, access(&mut stream).driver) = (workers, driver);
        run(&mut opened, &trial(vec![stream], SHORT))
    };
    let single = reads(1, 1, Driver::Auto);
    let told = said(&single.events);
    assert_eq!(told.len(), usize::from(engine::ring_allowed()), "without rings there is no choice");
    assert!(told.iter().all(|text| text.contains("io_uring") && text.contains("pread")), "{told:?}");
    assert!(done(&single) > 0 && single.accounts[0].closes());
    let shared = reads(2, 2, Driver::Auto);
    assert_eq!(said(&shared.events), told, "measured once for a system, so that its trials have one driver");
    let silent = [(2, 1, Driver::Auto), (1, 1, Driver::Plain)];
    for (slots, workers, driver) in silent {
        assert_eq!(said(&reads(slots, workers, driver).events), [""; 0], "{slots} {workers} {driver:?}");
    }
}

#[test]
fn file_work_is_the_same_whatever_the_width_and_is_checked() {
    let folder = Folder::new("files");
    for width in [1, 3] {
        let mut opened = open(folder.place(), 0);
        let spec = files::Spec { width, loops: 2, file: Bytes(100_000), block: Bytes(65_536), sync: true };
        let mut work = stream(Storage::Files(spec), closed(width));
        access(&mut work).direct = false;
        let mut trial = trial(vec![work], Nanos::from_secs(60));
        trial.phases.fixed_work = true;
        let observations = run(&mut opened, &trial);
        assert_eq!(observations.accounts[0].done, u64::from(3 * 2 * width));
        assert_eq!(observations.validated_reads, u64::from(2 * 2 * width), "two pieces a file");
        assert!(observations.elapsed_s.is_some_and(|seconds| seconds > 0.0));
        assert!(observations.events.iter().all(|event| event.kind != EventKind::Damage));
    }
}

#[test]
fn modules_of_no_size_are_folders_only() {
    let folder = Folder::new("none");
    let spec = study::SystemSpec {
        name: "none".into(),
        place: folder.place(),
        size: None,
        modules: None,
        footprint: observation::Footprint::default(),
    };
    let opened = crate::bench::try_open(&spec, 1, Bytes(0)).expect("folders are made");
    assert!(opened.kept().is_empty(), "nothing stays behind unasked");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_fixed_number_of_operations_is_that_number() {
    let folder = Folder::new("fixed");
    let mut opened = open(folder.place(), 1);
    let mut writer = stream(Storage::Block(blocks(0.0)), closed(4));
    writer.operations_mut().unwrap().count = Some(100);
    writer.threads.count = 2;
    let mut trial = trial(vec![writer], Nanos::from_secs(60));
    trial.phases.fixed_work = true;
    let observations = run(&mut opened, &trial);
    assert_eq!(observations.accounts[0].done, 100);
}

#[test]
fn a_stop_ends_a_trial_and_leaves_nothing_behind() {
    let folder = Folder::new("stop");
    let mut opened = open(folder.place(), 1);
    let trial = trial(vec![stream(Storage::Block(blocks(1.0)), closed(2))], Nanos::from_secs(600));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let ended = run_trial(&mut opened, &trial, &mut Unobserved, &stop);
        assert!(matches!(ended, Err(TrialError::Stopped)), "{ended:?}");
    });
}

#[test]
fn a_workload_larger_than_its_module_is_refused_before_anything_runs() {
    let folder = Folder::new("large");
    let mut opened = open(folder.place(), 1);
    let mut spec = blocks(1.0);
    spec.transfers[0].size = Bytes::mib(8);
    let refused = try_run(&mut opened, &trial(vec![stream(Storage::Block(spec), closed(1))], SHORT));
    assert!(matches!(refused, Err(TrialError::Workload { .. })), "{refused:?}");
}

#[test]
fn the_null_system_answers_without_moving_data() {
    let mut opened = open(study::Place::Null, 1);
    let observations = run(&mut opened, &trial(vec![stream(Storage::Block(blocks(1.0)), closed(32))], SHORT));
    assert!(done(&observations) > 10_000);
    assert!(observations.accounts[0].closes());
    let clock = |what: Whole| observations.series_of(&what.into()).map(|series| series.points.last().unwrap().1);
    assert!(clock(Whole::ClockUncertainty).is_some_and(|ppm| (0.0..100.0).contains(&ppm)), "the clock was checked");
    assert_eq!((clock(Whole::ClockSuspended), clock(Whole::ClockJump)), (Some(0.0), Some(0.0)));
}
