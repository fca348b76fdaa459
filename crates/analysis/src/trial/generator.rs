//! What the generator says of itself, and whether a figure of the trial is to be doubted for it.

use super::machine::{level, mean_of};
use crate::{CaveatKind, ClockSummary, GeneratorSummary, LooksSummary, RingsSummary, StreamSummary, TrialSummary};
use observation::{Event, EventKind, Observations, Whole};
use units::{Nanos, counted, duration, milliseconds, percent, significant};

/// What it says.
pub fn generator_summary(observations: &Observations) -> GeneratorSummary {
    let read = |what: Whole| level(observations, what);
    let looks =
        |mean_ms: f64| Some(LooksSummary { mean_ms, p99_ms: read(Whole::LooksP99)?, max_ms: read(Whole::LooksMax)? });
    let clock = |error_ppm: f64| {
        Some(ClockSummary {
            error_ppm,
            uncertainty_ppm: read(Whole::ClockUncertainty)?,
            suspended_s: read(Whole::ClockSuspended)?,
            jump_s: read(Whole::ClockJump)?,
        })
    };
    GeneratorSummary {
        looks: read(Whole::LooksMean).and_then(looks),
        waited_for_cpu: read(Whole::WaitedForCpu),
        children_cores: mean_of(observations, Whole::ChildrenCpu),
        clock: read(Whole::ClockError).and_then(clock),
        rings: read(Whole::RingGeneration).map(|generation| RingsSummary {
            generation,
            registered_buffers: read(Whole::RingBuffers),
            poll_first: read(Whole::RingPollFirst),
        }),
        hung: read(Whole::Hung).map_or(0, |count| count as u64),
        hung_before: read(Whole::HungBefore).map_or(0, |count| count as u64),
    }
}

/// The doubts that follow from it.
pub fn generator_caveats(summary: &TrialSummary, observations: &Observations) -> Vec<(CaveatKind, Option<String>)> {
    let clock = summary.generator.clock.as_ref();
    // Copies of a piece of work that are more than the cores wait for each other, which is what they are asked about.
    let asked = summary.fixed_work && super::caveats::fills_cores(observations);
    let starved = starved(&summary.generator).filter(|_| !asked);
    vec![
        (CaveatKind::LateLooks, late_looks(summary, observations)),
        (CaveatKind::LateLooks, starved.map(waiting)),
        (CaveatKind::DeviceLate, answered_late(observations)),
        (CaveatKind::Hung, hung(summary.generator.hung, observations)),
        (CaveatKind::CarryOver, hung_before(summary.generator.hung_before)),
        (CaveatKind::ClockPause, clock.and_then(suspended)),
        (CaveatKind::ClockPause, clock.and_then(jumped)),
        (CaveatKind::ClockScale, clock.and_then(off_scale)),
    ]
}

/// Of so large a share of late answers the p99 is one.
const LATE_SHARE: f64 = 0.01;

/// Answers that left emulated devices later than their models say, where they are many.
fn answered_late(observations: &Observations) -> Option<String> {
    let (all, late) = (level(observations, Whole::EmulatedAnswers)?, level(observations, Whole::EmulatedLate)?);
    (late > LATE_SHARE * all && late >= 10.0).then(|| {
        format!(
            "emulated devices answered {} of {} late, by more than 50 us and a tenth of their time: the cores of this machine were busy or \
             taken away by its host; take the numbers as those of a slower device, or offer less load",
            percent(late / all),
            counted(all as u64, "operations")
        )
    })
}

/// What hung is told by the event of the same moment.
fn hung(count: u64, observations: &Observations) -> Option<String> {
    let (at, _) = observations.series_of(&Whole::Hung.into())?.points.last()?;
    let named = |event: &&Event| event.kind == EventKind::Failure && event.at == *at;
    let named = observations.events.iter().find(named).map_or_else(String::new, |event| format!("; {}", event.text));
    (count > 0).then(|| {
        format!(
            "{} had not come back when the time to drain was over{named}; look for the device in the kernel log",
            counted(count, "operations")
        )
    })
}

fn hung_before(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!(
            "{} hung in the trial before on this system: what it still did for them may be part of this one; find out why, and run \
             it again",
            counted(count, "operations")
        )
    })
}

fn suspended(clock: &ClockSummary) -> Option<String> {
    (clock.suspended_s > 0.0).then(|| {
        format!(
            "the machine was suspended for {} in this trial: its load stood still, and its rates and latencies are not the system's; keep the machine awake, and run it again",
            duration(Nanos::from_seconds(clock.suspended_s))
        )
    })
}

/// What a suspend does to the counter is told by the suspend.
fn jumped(clock: &ClockSummary) -> Option<String> {
    (clock.jump_s != 0.0 && clock.suspended_s == 0.0).then(|| {
        format!(
            "the clock of the measurement jumped by {} against the kernel's, as it does when a virtual machine is moved to another host: times across that moment are wrong; run it again where the machine stays",
            duration(Nanos::from_seconds(clock.jump_s.abs()))
        )
    })
}

/// Every time that is told is off by as much.
const CLOCK_PPM: f64 = 100.0;

fn off_scale(clock: &ClockSummary) -> Option<String> {
    let off = clock.error_ppm.abs() - clock.uncertainty_ppm > CLOCK_PPM && clock.suspended_s == 0.0;
    off.then(|| {
        format!(
            "the clock of the measurement ran {} parts in a million {} than the kernel's ({} are allowed), and every time and rate is off by as much; let the time service settle, and run it again",
            significant(clock.error_ppm.abs()),
            if clock.error_ppm > 0.0 { "faster" } else { "slower" },
            significant(CLOCK_PPM)
        )
    })
}

/// A generator that waits longer for a CPU than this share of the window measures itself.
const WAITED_SHARE: f64 = 0.10;

/// How much of the window the generator waited for a CPU, when that is much.
pub fn starved(generator: &GeneratorSummary) -> Option<f64> {
    generator.waited_for_cpu.filter(|share| *share > WAITED_SHARE)
}

fn waiting(share: f64) -> String {
    format!(
        "the load generator was kept waiting for a CPU for {} of the window, and that wait is inside the times shown; leave it a \
         core that nothing else uses, and run it again",
        percent(share)
    )
}

/// A service of which so much may be the generator's own is not the system's alone.
const LOOKS_SHARE: f64 = 0.05;

fn late_looks(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let p99 = summary.generator.looks?.p99_ms;
    let answered = |stream: &&StreamSummary| stream.service.count > 0 && stream.service.p50_ms > 0.0;
    let services = summary.streams.iter().filter(answered).map(|stream| stream.service.p50_ms);
    let service = services.min_by(f64::total_cmp).filter(|service| p99 > LOOKS_SHARE * service)?;
    let slots: Option<u32> = summary.label.streams.iter().map(|stream| stream.slots).sum();
    let more = slots.is_none_or(|slots| slots > u32::from(observations.generators.max(1)));
    Some(format!(
        "the load generator noticed 1 in 100 completions {} late or more, against a median request of {} ({} of it): {}read latencies as \
         upper bounds",
        milliseconds(p99),
        milliseconds(service),
        percent(p99 / service),
        if more { "give it more `workers` or a free core, or " } else { "give it a free core, or " }
    ))
}

#[cfg(test)]
mod tests {
    use crate::run::tests::judgement;
    use crate::trial::tests::{label, observations, series, summarise};
    use crate::{CaveatKind, LooksSummary, TrialSummary};
    use observation::{Event, EventKind};
    use units::Nanos;

    /// The trial of the other tests, of which the median service is 1 ms, with such readings.
    fn with(readings: &[(&str, f64)]) -> TrialSummary {
        let mut seen = observations();
        seen.series.extend(readings.iter().map(|(probe, value)| series(probe, *value)));
        summarise(&label(), &seen, &judgement())
    }

    fn text(summary: &TrialSummary, kind: CaveatKind) -> Option<&str> {
        summary.caveats.iter().find(|caveat| caveat.kind == kind).map(|caveat| caveat.text.as_str())
    }

    #[test]
    fn a_time_between_looks_of_more_than_a_twentieth_of_the_median_service_is_doubted() {
        let looks = |p99: f64| {
            let [mean, max] = [("generator.between_looks.mean", 0.01), ("generator.between_looks.max", 2.0)];
            with(&[mean, ("generator.between_looks.p99", p99), max])
        };
        let (fine, late) = (looks(0.049), looks(0.2));
        assert_eq!(fine.generator.looks, Some(LooksSummary { mean_ms: 0.01, p99_ms: 0.049, max_ms: 2.0 }));
        assert_eq!(text(&fine, CaveatKind::LateLooks), None);
        let said = text(&late, CaveatKind::LateLooks).unwrap();
        assert!(
            said.contains("1 in 100 completions 200 us late or more, against a median request of 1 ms (20% of it)"),
            "{said}"
        );
        assert!(said.contains("give it more `workers`"), "{said}");
        assert_eq!(with(&[]).generator.looks, None);
    }

    #[test]
    fn an_emulated_device_that_answers_late_is_told_with_the_share_of_its_operations() {
        let answered = |all: f64, late: f64| with(&[("emulated.answers", all), ("emulated.answers.late", late)]);
        for (all, late) in [(10_000.0, 100.0), (50.0, 9.0)] {
            assert_eq!(text(&answered(all, late), CaveatKind::DeviceLate), None, "{late} of {all}");
        }
        let late = answered(10_000.0, 1_200.0);
        let said = text(&late, CaveatKind::DeviceLate).unwrap();
        assert!(
            said.starts_with("emulated devices answered 12% of 10\u{202f}000 operations late, by more than 50 us"),
            "{said}"
        );
        assert!(said.contains("the cores of this machine were busy or taken away"), "{said}");
    }

    /// Other programs on its cores made an open load late, and the advice was to offer less.
    #[test]
    fn a_generator_that_waits_for_a_cpu_doubts_its_times() {
        let waited = |share: f64| with(&[("generator.waited_for_cpu", share)]);
        assert_eq!(text(&waited(0.1), CaveatKind::LateLooks), None);
        assert_eq!(waited(0.1).generator.waited_for_cpu, Some(0.1));
        let said = waited(0.62);
        assert!(text(&said, CaveatKind::LateLooks).unwrap().contains("kept waiting for a CPU for 62% of the window"));
    }

    #[test]
    fn what_hung_is_told_with_its_name_and_doubts_the_trial_and_the_one_after_it() {
        let mut seen = observations();
        seen.series.push(series("generator.operations.hung", 3.0));
        let event = |second, text: &str| Event {
            at: Nanos::from_secs(second),
            kind: EventKind::Failure,
            text: text.to_owned(),
        };
        seen.events = vec![event(4, "another failure"), event(12, "on disk at /dev/x: Read of 512 B hung")];
        let summary = summarise(&label(), &seen, &judgement());
        assert_eq!(summary.generator.hung, 3);
        let said = text(&summary, CaveatKind::Hung).unwrap();
        assert!(
            said.starts_with("3 operations had not come back") && said.contains("; on disk at /dev/x: Read"),
            "{said}"
        );
        let after = with(&[("generator.operations.hung_before", 3.0)]);
        assert!(text(&after, CaveatKind::CarryOver).unwrap().starts_with("3 operations hung in the trial before"));
    }

    #[test]
    fn a_clock_off_by_more_than_its_readings_can_be_is_doubted_and_so_are_a_suspend_and_a_jump() {
        let clock = |error: f64, uncertainty: f64, suspended: f64, jump: f64| {
            let of = |what: &str, value| (format!("generator.clock.{what}"), value);
            let all =
                [of("error", error), of("uncertainty", uncertainty), of("suspended", suspended), of("jump", jump)];
            with(&all.each_ref().map(|(name, value)| (name.as_str(), *value)))
        };
        let kinds = |summary: TrialSummary| summary.caveats.iter().map(|caveat| caveat.kind).collect::<Vec<_>>();
        assert_eq!(kinds(clock(-99.0, 1.0, 0.0, 0.0)), []);
        assert_eq!(kinds(clock(-150.0, 60.0, 0.0, 0.0)), [], "a short trial cannot tell");
        assert_eq!(kinds(clock(150.0, 1.0, 0.0, 0.0)), [CaveatKind::ClockScale]);
        assert_eq!(kinds(clock(-150.0, 1.0, 30.0, 30.0)), [CaveatKind::ClockPause], "the suspend tells the rest");
        assert_eq!(kinds(clock(2.0, 1.0, 0.0, -0.02)), [CaveatKind::ClockPause]);
        let slow = clock(-150.0, 1.0, 0.0, 0.0);
        let said = text(&slow, CaveatKind::ClockScale).unwrap();
        assert!(said.contains("ran 150 parts in a million slower than the kernel's (100 are allowed)"), "{said}");
        assert_eq!(slow.generator.clock.map(|clock| clock.error_ppm), Some(-150.0));
    }
}
