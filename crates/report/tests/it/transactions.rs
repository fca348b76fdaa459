//! Reports of transactions: what a keeper of databases looks for, and none of the words of storage.

use crate::sample::house;
use analysis::{Caveat, CaveatKind, Estimate};
use observation::{Event, EventKind, Factor, Level};
use report::{Layout, html, text};
use units::Nanos;

#[test]
fn the_text_of_transactions_is_as_it_was() {
    insta::assert_snapshot!("house.txt", text(&house(), Layout::default()));
    insta::assert_snapshot!("house-wide.txt", text(&house(), Layout { width: 140, ..Layout::default() }));
}

#[test]
fn transactions_are_never_called_operations_and_move_no_bytes() {
    let page = html(&house());
    let (figures, _) = page.split_once("id=\"method\"").unwrap();
    assert!(figures.contains("transactions a second") && !figures.contains("operations"));
    assert!(!text(&house(), Layout::default()).contains(" bytes  "));
}

#[test]
fn tries_that_were_thrown_away_have_a_sentence_and_a_column() {
    let mut findings = house();
    let wide = Layout { width: 200, ..Layout::default() };
    assert!(!text(&findings, wide).contains("thrown away"), "there were none");
    for trial in &mut findings.trials {
        let [order, status, others @ ..] = trial.streams[0].classes.as_mut_slice() else { panic!("four classes") };
        (order.done, order.retried) = (1_000, 1_000);
        (status.done, status.retried) = (491, 263);
        others.iter_mut().for_each(|class| class.done = 0);
    }
    let told = text(&findings, wide);
    let sentence =
        "1\u{202f}263 of 2\u{202f}754 tries (45.9%) were thrown away for a conflict or a deadlock and begun anew";
    assert!(told.contains(sentence), "{told}");
    let (_, mix) = told.split_once("Mix of brokerage").expect("the mix");
    let row = |class: &str| mix.lines().find(|line| line.contains(class)).expect("its row").to_owned();
    assert!(mix.lines().take(3).any(|line| line.contains("thrown away")), "{mix}");
    assert!(row("trade-order").contains("50%") && !row("trade-result").contains("0%  "), "{mix}");
    assert!(html(&findings).contains("thrown away"));
}

#[test]
fn the_point_that_the_answer_is_about_has_a_row_in_the_first_table() {
    let mut findings = house();
    let rows = |findings: &analysis::Findings| {
        let said = text(findings, Layout { width: 160, ..Layout::default() });
        let (_, table) = said.split_once("workload ").expect("the first table");
        table.lines().take_while(|line| !line.is_empty() && !line.contains("in the figures")).count()
    };
    let before = rows(&findings);
    findings.answered = findings.points.iter().map(|point| point.at.clone()).collect();
    assert!(before < 1 + findings.points.len() && rows(&findings) == 1 + findings.points.len(), "{before}");
}

#[test]
fn what_one_trial_of_several_tells_names_its_trial() {
    let mut findings = house();
    let costs = |findings: &analysis::Findings| {
        let said = text(findings, Layout { width: 400, ..Layout::default() });
        said.lines().filter(|line| line.starts_with("cost: ")).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert!(!costs(&findings).contains("(trial"), "{}", costs(&findings));
    let others: Vec<u32> = findings.trials.iter().map(|trial| trial.label.index).collect();
    for point in &mut findings.points {
        point.trials.push(*others.iter().find(|index| !point.trials.contains(index)).expect("another trial"));
    }
    assert!(costs(&findings).contains("(trial "), "{}", costs(&findings));
}

#[test]
fn a_bound_of_p99_is_told_however_low_it_is() {
    let mut findings = house();
    let bound = |low: f64| Estimate { low, high: f64::INFINITY, ..Estimate::single(900.0) };
    let mut told = |low: f64| {
        for point in &mut findings.points {
            (point.response_p50_ms, point.response_p99_ms) = (Estimate::single(500.0), bound(low));
        }
        text(&findings, Layout { width: 160, ..Layout::default() })
    };
    assert!(told(700.0).contains("≥700 ms") && told(400.0).contains("≥400 ms"));
}

#[test]
fn a_doubt_that_the_answer_tells_is_not_told_again_below_it() {
    let mut findings = house();
    let doubt = Caveat { kind: CaveatKind::Pressure, trial: None, text: "cores vanished".into() };
    findings.caveats.push(doubt);
    let told = |findings: &analysis::Findings| text(findings, Layout::default()).matches("vanished").count();
    assert_eq!(told(&findings), 1);
    findings.doubts.push("Cores vanished.".into());
    findings.doubted = Some(CaveatKind::Pressure);
    assert_eq!(told(&findings), 1);
}

#[test]
fn freshness_and_what_transactions_give_are_columns_of_the_csv() {
    let mut findings = house();
    let trial = &mut findings.trials[0];
    trial.label.streams[0].classes[0] = (trial.streams[0].classes[0].name.clone(), observation::ClassKind::Age);
    (trial.streams[0].classes[0].response.p50_ms, trial.streams[0].classes[0].bound_from) = (7_654.0, Some(0.25));
    let per_s = Estimate::single(10.0);
    trial.streams[0].yields = vec![analysis::YieldSummary { what: "dialog steps".into(), per_s, most: 1.0 }];
    let csv = report::csv(&findings);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let value = |name: &str| values[names.iter().position(|known| *known == name).expect("a column")];
    assert_eq!(["dialog_steps_per_h", "postings_per_h"].map(value), ["36000", ""]);
    assert_eq!(["freshness_p50_ms", "freshness_lower_bound_from"].map(value), ["7654", "0.25"]);
}

#[test]
fn work_that_saw_nothing_that_was_loaded_is_told_where_the_count_is_not_the_rate_times_the_window() {
    let said = |counted: u64| {
        let mut findings = house();
        for trial in &mut findings.trials {
            let class = &mut trial.streams[0].classes[0];
            trial.label.streams[0].classes[0] = (class.name.clone(), observation::ClassKind::Age);
            (class.done, class.response.count) = (12_265, counted);
        }
        text(&findings, Layout { width: 400, ..Layout::default() }).replace("\n  ", " ")
    };
    let words = format!("{} of {} saw none", units::count(3_316), units::count(15_581));
    assert!(said(15_581).contains(&words), "{}", said(15_581));
    assert!(!said(12_265).contains("saw none"));
}

#[test]
fn an_embedded_database_says_whose_cpu_is_counted() {
    let mut findings = house();
    for trial in &mut findings.trials {
        let server = trial.server.as_mut().unwrap();
        server.embedded = true;
        server.per_transaction.cpu_ms = None;
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("2.44 us of CPU, database and generator together"), "{said}");
    assert!(html(&findings).contains("the CPU of a transaction is of both together"));
}

#[test]
fn damage_of_another_trial_is_counted_beside_the_quoted_one() {
    let mut findings = house();
    let damage = Event { at: Nanos::from_secs(22), kind: EventKind::Damage, text: "cash is wrong".into() };
    findings.trials[0].events.push(damage.clone());
    let wide = Layout { width: 160, ..Layout::default() };
    assert!(text(&findings, wide).contains("are as acknowledged; damage after 1 other trial"));
    findings.trials[2].events = vec![damage];
    assert!(text(&findings, wide).contains("damaged data: brokerage at 16 sessions: cash is wrong"));
}

#[test]
fn a_class_that_is_off_its_plan_is_named() {
    let wide = Layout { width: 160, ..Layout::default() };
    let mut findings = house();
    assert!(!text(&findings, wide).contains("mix: "));
    let classes = &mut findings.trials[2].streams[0].classes;
    classes[0].mix.mix_ok = Some(false);
    let said = text(&findings, wide);
    assert!(said.contains("mix: brokerage at 16 sessions: the share is not the planned one: trade-order"), "{said}");
}

#[test]
fn a_mix_without_a_plan_is_shown_and_not_judged() {
    let mut findings = house();
    let streams = findings.trials.iter_mut().flat_map(|trial| &mut trial.streams);
    for class in streams.flat_map(|stream| &mut stream.classes) {
        class.mix = analysis::ClassMix { share: class.mix.share, ..analysis::ClassMix::default() };
    }
    let page = html(&findings);
    assert!(page.contains("Mix and latency by class") && page.contains("trade-order"));
    assert!(!page.contains("mix ok") && !page.contains("The mix is ok when"));
    assert!(html(&house()).contains("The mix is ok when"));
}

#[test]
fn a_sweep_from_off_to_full_draws_what_each_costs_the_other_in_the_order_of_the_study() {
    let mut findings = house();
    let words = ["full", "500", "off"];
    findings.run.study_text = "# full or off\nfactor.sessions = [\"off\", \"500\", \"full\"]".into();
    for (at, point) in findings.points.iter_mut().enumerate() {
        point.at.factors[0].level = Level::Word(words[at].into());
        let estimate = |value: f64| Estimate { value, low: value * 0.9, high: value * 1.1, n: 3, confidence: 0.95 };
        point.yields = vec![
            ("dialog steps".into(), estimate(10.0 + at as f64)),
            ("rows loaded".into(), estimate(900.0 - 100.0 * at as f64)),
        ];
    }
    findings.findings.retain(|finding| finding.point().is_none());
    let page = html(&findings);
    assert!(page.contains("dialog steps an hour against rows loaded an hour"));
    let [off, some, full] = ["off", "500", "full"].map(|word| page.find(&format!(">{word}</text>")).unwrap());
    assert!(off < some && some < full, "{off} {some} {full}");
    findings.run.settings = vec!["lab.sessions=full,500,off".into()];
    let page = html(&findings);
    let [off, full] = ["off", "full"].map(|word| page.find(&format!(">{word}</text>")).unwrap());
    assert!(full < off, "{full} {off}");
}

#[test]
fn a_sweep_whose_transactions_give_two_things_has_a_table_of_all_points_in_text_and_page() {
    let mut findings = house();
    // Nobody knows how old what these saw was, and no title says so.
    let caption = "Every point of “";
    assert!(!text(&findings, Layout::default()).contains(caption));
    for (at, point) in findings.points.iter_mut().enumerate() {
        let given = |per_s: f64| Estimate { low: 0.9 * per_s, high: 1.1 * per_s, ..Estimate::single(per_s) };
        let rows = ("rows loaded".to_owned(), given(at as f64));
        point.yields = vec![("dialog steps".to_owned(), given(100.0)), rows];
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    let (_, table) = said.split_once(caption).expect("the table");
    let rows = table.lines().skip(1).take_while(|line| !line.is_empty());
    assert_eq!(rows.count(), 1 + findings.points.len(), "{said}");
    assert!(!said.contains("with the age") && html(&findings).contains("What each point gives<"));
}

#[test]
fn the_largest_level_gave_no_more_than_others_where_intervals_do_not_tell() {
    let mut findings = house();
    findings.findings.retain(|finding| analysis::Knee::of(finding).is_none());
    for (at, point) in findings.points.iter_mut().enumerate() {
        let value = 1000.0 + at as f64;
        point.throughput_per_s = Estimate { low: 0.9 * value, high: 1.1 * value, n: 4, ..Estimate::single(value) };
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("plateau") && said.contains("gave about as much as"), "{said}");
    assert!(!said.contains("gave the most") && !said.contains("peak: "), "{said}");
    for (at, point) in findings.points.iter_mut().enumerate() {
        let value = 1000.0 + 400.0 * at as f64;
        point.throughput_per_s = Estimate { low: 0.1 * value, high: 4.0 * value, n: 4, ..Estimate::single(value) };
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(
        said.contains("gave the most, but its interval overlaps with that of") && !said.contains("plateau"),
        "{said}"
    );
}

#[test]
fn the_largest_level_is_no_peak_where_nothing_beyond_it_was_tried() {
    let mut findings = house();
    findings.findings.retain(|finding| analysis::Knee::of(finding).is_none());
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("no peak yet:"), "{said}");
    findings.points.retain(|point| point.at.factors.iter().all(|factor| factor.level.number() != Some(16.0)));
    let last = findings.points.last_mut().expect("points");
    last.throughput_per_s = Estimate::single(1.0);
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(!said.contains("no peak") && !said.contains("largest: "), "{said}");
}

#[test]
fn a_knee_that_gave_the_most_is_the_best_of_those_tried_and_has_no_second_name() {
    let said = |at: f64| {
        let mut findings = house();
        let best = findings.points.iter_mut().find(|point| point.at.factors[0].level.number() == Some(4.0)).unwrap();
        best.throughput_per_s = best.throughput_per_s.scaled(2.0);
        let curve =
            findings.points.iter().map(|point| (point.at.factors[0].level.number().unwrap(), point.throughput_per_s));
        let curve = curve.collect::<Vec<_>>();
        let Some(analysis::Finding::Knee(knee)) = findings.findings.first_mut() else { panic!("a knee") };
        (knee.at, knee.curve) = (Some(Estimate { value: at, low: at, high: at, n: 3, confidence: 0.95 }), curve);
        (text(&findings, Layout { width: 160, ..Layout::default() }), html(&findings))
    };
    let (text, page) = said(4.0);
    assert!(text.contains("best: brokerage: at 4 sessions, the best of those tried: "), "{text}");
    assert!(!text.contains("knee") && !text.contains("peak"), "{text}");
    assert!(page.contains("best at 4") && !page.contains("knee at 4"));
    let (text, page) = said(1.0);
    assert!(text.contains("knee: brokerage: at 1 session, the least that is within 5% of the best, "), "{text}");
    assert!(page.contains("knee at 1"));
}

#[test]
fn a_card_of_an_outage_has_the_rates_of_its_phases_and_none_of_the_whole_window() {
    let mut findings = house();
    let card = |findings: &analysis::Findings| {
        let said = text(findings, Layout { width: 160, ..Layout::default() });
        said.split("The figures in short").next().unwrap().to_owned()
    };
    let whole = "TPS  brokerage";
    assert!(card(&findings).contains(whole), "{}", card(&findings));
    findings.findings.push(analysis::Finding::Pair(analysis::PairFinding {
        point: findings.points[0].at.clone(),
        event: "cut".into(),
        freeze_s: 1.2,
        interval_s: 0.1,
        rate_before_per_s: Some(1_372.0),
        rate_alone_per_s: Some(1_523.0),
        rate_after_per_s: Some(1_381.0),
        ..Default::default()
    }));
    let told = card(&findings);
    assert!(told.contains("1372 TPS before, 1523 TPS alone, 1381 TPS since") && !told.contains(whole), "{told}");
}

#[test]
fn data_of_which_nothing_was_loaded_is_older_than_the_trial_and_no_time_is_told_in_its_place() {
    let mut findings = house();
    for trial in &mut findings.trials {
        let class = &mut trial.streams[0].classes[0];
        trial.label.streams[0].classes[0] = (class.name.clone(), observation::ClassKind::Age);
        (class.response.p50_ms, class.response.p99_ms, class.bound_from) = (151.0, 98_765.0, Some(0.95));
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("data seen was 151 ms old at the median, older than the trial at p99"), "{said}");
    assert!(!said.contains("98.8 s") && !html(&findings).contains("98.8 s"), "{said}");
}

/// Three levels of which the second gave the most, the first within a tenth of it at half the latency, and the last is what is asked.
#[test]
fn a_card_quotes_the_highest_of_a_curve_and_beside_it_what_is_asked_and_what_is_as_good_in_less_time() {
    let mut findings = house();
    findings.findings.retain(|finding| analysis::Knee::of(finding).is_none());
    let rates = [1_060.0, 1_140.0, 1_120.0];
    for (at, point) in findings.points.iter_mut().enumerate() {
        let (value, ms) = (rates[at], 0.5 * (at + 1) as f64);
        point.throughput_per_s = Estimate { low: 0.92 * value, high: 1.08 * value, n: 4, ..Estimate::single(value) };
        point.response_p50_ms = Estimate { low: 0.9 * ms, high: 1.1 * ms, ..Estimate::single(ms) };
    }
    let level = |at: usize| findings.points[at].at.factors[0].in_words();
    let (first, second, last) = (level(0), level(1), level(2));
    findings.answered = vec![findings.points[2].at.clone()];
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("1140 TPS") && said.contains(&format!("at {second}, the best")), "{said}");
    assert!(said.contains(&format!("at the level that the study asks about: 1120 TPS at {last}")), "{said}");
    assert!(said.contains(&format!("about as much at {first}: 1060 TPS (975–1145 TPS), p50 500 us")), "{said}");
}

/// Levels that are choices have no order: what is asked of them is how they differ.
#[test]
fn a_choice_between_settings_is_told_with_every_one_of_them() {
    let mut findings = house();
    findings.findings.clear();
    for (point, (choice, per_s)) in
        findings.points.iter_mut().zip([("false", 900.0), ("true", 600.0), ("twice", 300.0)])
    {
        point.at.factors = vec![Factor { name: "read_first".to_owned(), level: Level::Word(choice.to_owned()) }];
        point.throughput_per_s = Estimate::single(per_s);
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    for other in ["900 TPS at read_first false", "600 TPS at read_first true"] {
        assert!(said.contains(other), "{other}: {said}");
    }
}

#[test]
fn what_something_beside_it_costs_leads_a_card_with_both_sides() {
    let mut findings = house();
    let [alone, loaded] = [0, 1].map(|at: usize| findings.points[at].at.clone());
    let ratio = Estimate { low: 0.38, high: 0.43, n: 4, ..Estimate::single(0.406) };
    findings.answered = vec![loaded.clone()];
    findings.findings = vec![analysis::Finding::Beside(analysis::Beside {
        point: loaded,
        baseline: alone,
        beside: vec!["night".to_owned()],
        what: Some("postings".to_owned()),
        ratio,
        response: Some(Estimate::single(2.46)),
    })];
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("0.406     times as many postings: brokerage beside night"), "{said}");
    assert!(said.contains("2.46 times the mean latency"), "{said}");
    assert_eq!(said.matches("TPS, mean latency ").count(), 2, "both sides: {said}");
}

/// A hundred rows a transaction are fewer transactions, and more work.
#[test]
fn transactions_of_other_sizes_are_compared_by_what_they_carry() {
    let mut findings = house();
    findings.findings.clear();
    for (point, (per_s, bytes_per_s)) in
        findings.points.iter_mut().zip([(1_102.0, 2.2e5), (366.0, 7.3e5), (140.0, 2.8e6)])
    {
        point.throughput_per_s = Estimate::single(per_s);
        point.bytes_per_s = Estimate::single(bytes_per_s);
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("2.8 MB/s  brokerage") && said.contains("220 kB/s at 1 session"), "{said}");
}

#[test]
fn a_latency_that_may_be_ten_times_as_much_stands_on_the_card_with_its_interval() {
    let mut findings = house();
    findings.findings.clear();
    for point in &mut findings.points {
        point.response_mean_ms = Estimate { low: 1.04, high: 96.7, n: 4, ..Estimate::single(10.0) };
        point.service_mean_ms = Estimate::single(2.0);
        point.response_p50_ms = Estimate { low: 0.5, high: 50.0, n: 4, ..Estimate::single(5.0) };
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert!(said.contains("mean 10 ms (2–96.7 ms), 2 ms of it in the database"), "{said}");
    assert!(said.contains(" at 1 session, p50 5 ms (0.5–50 ms)"), "{said}");
}

/// Transactions that others start wait for a session without being in one; jobs that a timer starts have sessions of their own.
#[test]
fn whoever_checks_rate_times_latency_against_the_sessions_reads_why_it_is_more() {
    let said_of = |response_ms: f64, service_ms: f64, within: f64| {
        let mut findings = house();
        for (trial, point) in findings.trials.iter_mut().zip(&mut findings.points) {
            let sessions = f64::from(trial.label.streams[0].slots.expect("a closed load"));
            let stream = &mut trial.streams[0];
            stream.throughput_per_s = Estimate::single(1_000.0);
            (stream.response.mean_ms, stream.service.mean_ms) =
                (within * response_ms * sessions, within * service_ms * sessions);
            point.throughput_per_s = Estimate::single(1_000.0);
            point.response_mean_ms = Estimate::single(response_ms * sessions);
            point.service_mean_ms = Estimate::single(service_ms * sessions);
        }
        text(&findings, Layout { width: 200, ..Layout::default() })
    };
    let said = |response_ms: f64, service_ms: f64| said_of(response_ms, service_ms, 1.0);
    assert!(!said(1.02, 1.0).contains("times TPS"), "means scatter");
    let apart = said_of(1.25, 1.25, 0.8);
    assert!(apart.contains(": both are means of trials that differ; in one trial it is "), "{apart}");
    let starts = said(1.25, 1.0);
    assert!(starts.contains("times TPS gives "), "{starts}");
    assert!(starts.contains("it includes how long transactions"), "{starts}");
    assert!(said(1.25, 1.1).contains("jobs that a timer starts have sessions of their own"));
}

#[test]
fn users_who_give_less_than_was_completed_are_told_beside_the_rest() {
    let said = |per_s: f64| {
        let mut findings = house();
        for trial in &mut findings.trials {
            trial.label.streams[0].think_mean = Nanos::from_millis(2);
            trial.label.streams[0].load = "4 users, 2 ms mean think time, 4 sessions".to_owned();
        }
        for point in &mut findings.points {
            (point.throughput_per_s, point.response_mean_ms) = (Estimate::single(per_s), Estimate::single(0.1));
            point.asked_most_per_s = Some(2_000.0);
        }
        text(&findings, Layout { width: 200, ..Layout::default() })
    };
    // Four who think for 2 ms and wait for 0.1 ms start 1905 a second.
    let more = said(2_052.0);
    assert!(more.contains("the users start 1905 TPS of these; timers and other transactions start the rest"), "{more}");
    assert!(more.contains("who ask for at most 2000 transactions a"), "{more}");
    assert!(!said(1_950.0).contains("the users start"), "means scatter");
}

#[test]
fn jobs_over_rows_say_rows_a_second() {
    let mut findings = house();
    let streams = findings.trials.iter_mut().flat_map(|trial| &mut trial.label.streams);
    streams.for_each(|label| {
        label.load = format!("10 rows of 200 B a transaction; closed, {} sessions", label.slots.unwrap_or(1))
    });
    assert!(!text(&findings, Layout::default()).contains("rows/s"), "nothing moves bytes");
    findings.points.iter_mut().for_each(|point| {
        point.throughput_per_s = Estimate::single(2_570.0);
        point.bytes_per_s = Estimate::single(5.14e6);
    });
    let said = text(&findings, Layout { width: 200, ..Layout::default() });
    assert!(said.contains("25.7 k rows/s, 10 rows a transaction"), "{said}");
}

#[test]
fn of_few_looks_the_longest_is_told_once() {
    let mut findings = house();
    let mut looks = |max_ms: f64| {
        for trial in &mut findings.trials {
            trial.generator.looks = Some(analysis::LooksSummary { mean_ms: 0.001, p99_ms: 0.007_88, max_ms });
        }
        text(&findings, Layout { width: 200, ..Layout::default() })
    };
    assert!(looks(0.007_88).contains("every 1 us on average, 7.88 us at most (in trial"));
    assert!(looks(0.01).contains("every 1 us on average, 7.88 us at p99, 10 us at most"));
}

/// Two thousand times a trial, of which the slowest came in a few bunches, so that of p99 a bound is known.
#[test]
fn a_quantile_of_which_a_bound_is_known_is_told_as_one_in_every_table_and_the_chart_is_of_all_trials() {
    let mut findings = house();
    let times = |first: u64| observation::Histogram::from_values((first..first + 2_000).map(|k| k * 1_000_000));
    for (at, trial) in findings.trials.iter_mut().enumerate() {
        let mean_ms = Estimate { low: 970.0, high: 1_030.0, n: 2_000, ..Estimate::single(1_000.5) };
        let known = |q, share_error| analysis::QuantileEstimate { q, ms: mean_ms, share_error, freedom: 50.0 };
        let quantiles = vec![known(0.5, 0.012), known(0.95, 0.005), known(0.99, 0.0266), known(0.999, 0.007)];
        let times = times(1 + 5_000 * (at as u64 % 2));
        let own = analysis::ResponseEstimates { mean_ms, quantiles, times, censored_from_ns: None };
        trial.streams[0].response_estimates = Some(own);
    }
    let [p50, p99] = findings.trials[0].streams[0].quantiles([0.5, 0.99]).expect("times");
    assert!(p50.has_interval() && p99.lower_bound(), "{p50:?} {p99:?}");
    let page = html(&findings);
    let told = format!("≥{}", units::milliseconds(p99.low));
    let (_, trials) = page.split_once("Latency of every trial").expect("the table");
    let row = trials.split("<tr").nth(2).expect("a row");
    assert!(row.contains(&told), "{told}: {row}");
    let (_, classes) = page.split_once("Mix and latency by class").expect("the classes");
    assert!(
        classes.split("</table>").next().is_some_and(|table| table.contains(">~")),
        "p99 of a class is no better known"
    );
    let together =
        analysis::StreamSummary::distribution_of(&[&findings.trials[0].streams[0], &findings.trials[1].streams[0]]);
    assert!(together.expect("times").last().is_some_and(|(_, most)| *most > 6_000.0), "both trials are in it");
}

/// The server was divided by the transactions of each stream in turn.
#[test]
fn what_a_server_spends_on_two_streams_is_told_once_and_of_both() {
    let mut findings = house();
    for trial in &mut findings.trials {
        let (mut label, mut stream) = (trial.label.streams[0].clone(), trial.streams[0].clone());
        (label.name, stream.stream) = ("night".into(), 1);
        stream.throughput_per_s = Estimate::single(3.0 * stream.throughput_per_s.value);
        trial.label.streams.push(label);
        trial.streams.push(stream);
    }
    for mut point in findings.points.clone() {
        point.at.stream = "night".into();
        findings.points.push(point);
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    assert_eq!(said.matches("cost: ").count(), 1, "{said}");
    assert!(said.contains("cost: brokerage and night at 16 sessions: "), "{said}");
    assert!(said.contains("the mean transaction of both workloads takes "), "{said}");
    let (page, alone) = (html(&findings), html(&house()));
    let tables = |page: &str| page.matches("What the server counted").count();
    assert_eq!((tables(&page), page.matches("a transaction is one of both workloads").count()), (tables(&alone), 1));
    let rows = |page: &str| {
        let (_, behind) = page.split_once("Throughput for each core, and CPU").expect("the figure");
        behind.split("</table>").next().map_or(0, |table| table.matches("<tr").count())
    };
    assert_eq!(rows(&page), rows(&alone), "a row for each point of the trial, not for each stream");
}

#[test]
fn quantiles_that_no_sample_lies_beyond_are_not_told_of_a_class() {
    let mut findings = house();
    let classes =
        findings.trials.iter_mut().flat_map(|trial| &mut trial.streams).flat_map(|stream| &mut stream.classes);
    for class in classes {
        (class.response.count, class.done, class.bound_from) = (10, 10, None);
        (class.response.p90_ms, class.response.p99_ms, class.response.p999_ms) = (90.125, 99.125, 99.925);
    }
    let said = text(&findings, Layout { width: 160, ..Layout::default() });
    let (_, mix) = said.split_once("Mix of brokerage").expect("the mix");
    let mix = mix.split("\n\n").next().unwrap_or_default();
    assert!(mix.contains("~90.1 ms"), "one sample beyond it tells little: {mix}");
    let caption = mix.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(caption.contains("; ~: few or bunched samples, no interval"), "and the sign is explained: {mix}");
    assert!(!mix.contains("99.1 ms") && !mix.contains("99.9 ms"), "{mix}");
}

#[test]
fn nobody_asks_for_the_window_of_fixed_work() {
    let mut findings = house();
    for trial in &mut findings.trials {
        (trial.fixed_work, trial.elapsed_s) = (true, 0.137);
        let found = analysis::Checkpoints {
            held: analysis::Held::NoCycles,
            measured: trial.window,
            begun: None,
            cycles: 0,
            cycle_s: None,
            text: String::new(),
        };
        trial.server.as_mut().expect("a server").checkpoints = Some(found);
    }
    let page = html(&findings);
    let (_, figure) = page.split_once("Checkpoints and the window").expect("the figure");
    let table = figure.split("</table>").next().unwrap_or_default();
    assert!(table.contains("137") && !table.contains(">asked for<"), "{table}");
}

/// The first chart of the first experiment.
fn main_chart(page: &str) -> &str {
    let (_, behind) = page.split_once("id=\"experiment-0\"").expect("an experiment");
    behind.split("</svg>").find(|part| part.contains("class=\"chart full\"")).expect("a chart")
}

#[test]
fn a_knee_between_two_levels_is_drawn_at_neither_alone() {
    let uprights = |findings: &analysis::Findings| {
        let page = html(findings);
        let drawn = main_chart(&page).matches("class=\"upright ").count();
        (drawn, page.contains(">knee between 4 and 16</text>"))
    };
    let mut findings = house();
    assert_eq!(uprights(&findings), (2, true));
    if let Some(analysis::Finding::Knee(knee)) = findings.findings.first_mut() {
        let at = knee.at.as_mut().expect("a knee");
        at.low = at.high;
    }
    assert_eq!(uprights(&findings), (1, false));
}

#[test]
fn the_main_chart_draws_and_names_what_the_study_asks_for() {
    let mut findings = house();
    let page = html(&findings);
    assert!(page.contains("TPS and latency by sessions<") && main_chart(&page).contains(">TPS"));
    for point in &mut findings.points {
        point.bytes_per_s = point.throughput_per_s.scaled(65_536.0);
    }
    findings.metric = Some(study::Metric::Bandwidth);
    let page = html(&findings);
    assert!(page.contains("Bandwidth and latency by sessions<"));
    let chart = main_chart(&page);
    assert!(chart.contains(">bandwidth (MB/s)<") && chart.contains("16 sessions: 125 MB/s"), "{chart}");
    for point in &mut findings.points {
        point.yields = vec![("dialog steps".into(), Estimate::single(10.0))];
    }
    assert!(html(&findings).contains("Dialog steps an hour and latency by sessions<"));
}

#[test]
fn two_things_are_not_drawn_against_each_other_where_one_does_not_change() {
    let drawn = |step: f64| {
        let mut findings = house();
        for (at, point) in findings.points.iter_mut().enumerate() {
            let rows = Estimate::single(900.0 + step * at as f64);
            let steps = Estimate::single(10.0 + at as f64);
            point.yields = vec![("dialog steps".into(), steps), ("rows loaded".into(), rows)];
        }
        html(&findings).contains("dialog steps an hour against rows loaded an hour")
    };
    assert!(!drawn(8.0), "16 of 916 are no difference");
    assert!(drawn(20.0));
}

#[test]
fn distances_are_in_kilometres_at_the_axis_and_in_what_a_point_says() {
    let mut findings = house();
    for point in &mut findings.points {
        point.at.factors[0].name = "mirror.distance".into();
    }
    let page = html(&findings);
    let chart = main_chart(&page);
    assert!(chart.contains(">distance (km), log scale<") && chart.contains(" · 16 km: "), "{chart}");
}

#[test]
fn users_who_think_stand_on_the_card_beside_the_sessions_that_carry_them() {
    let mut findings = house();
    let wide = Layout { width: 160, ..Layout::default() };
    assert!(!text(&findings, wide).contains("think time"));
    for stream in findings.trials.iter_mut().flat_map(|trial| &mut trial.label.streams) {
        stream.think_mean = Nanos::from_millis(50);
        stream.load = "100 users, 50 ms mean think time, 16 sessions".to_owned();
    }
    findings.points.iter_mut().for_each(|point| point.asked_most_per_s = Some(2_000.0));
    let said = text(&findings, wide);
    assert!(
        said.contains("at 16 sessions, the largest that was tried; 100 users, 50 ms mean think time, who"),
        "{said}"
    );
}
