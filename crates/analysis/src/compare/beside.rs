//! One stream at two points of a run: alone and beside others, or without loads and with the most of them.
//!
//! The one idea: what something costs is a ratio of the run itself, with an interval: over pairs of a block where there are
//! enough of them, else of what each trial knows of itself. An interval that holds 1 says that no cost can be told.
//!
//! What it does not do: it compares no systems, and gives no verdict.

use super::paired_test::paired_test;
use super::pairs::pairs;
use crate::point::{Group, Kin, own_estimate};
use crate::{Beside, Estimate};
use observation::{Level, Places, Point, Provenance, StreamLabel};
use std::collections::BTreeMap;
use study::{Metric, Yield};

/// The factor that says how many users ask.
const USERS: &str = "users";

/// The factor that says how much is loaded beside them, with its level for as fast as it goes.
const LOAD_RATE: &str = "load_rate";
const FULL: &str = "full";

/// Which of the things that a stream gives: what its users count first, and what is loaded beside them.
const FIRST: usize = 0;
const LOADS: usize = 1;

/// What every stream lost, in what its users count first and in its mean response.
pub fn besides(groups: &[Group], confidence: f64) -> Vec<Beside> {
    let open = |group: &&Group| !group.searched() && group.members.iter().all(|(trial, _)| !trial.fixed_work);
    let known = Baselines::of(groups);
    let found = groups.iter().filter(open).flat_map(|group| {
        let held = known.baselines(group).into_iter();
        held.filter_map(move |(baseline, what)| of((baseline, group), what, confidence))
    });
    found.collect()
}

/// The groups that others may be held against.
struct Baselines<'a> {
    groups: &'a [Group<'a>],
    /// Where points stand, whichever experiment they are of.
    places: Places,
    swept: BTreeMap<Kin<'a>, Swept<'a>>,
    /// By stream and by all that is varied but users.
    asked: BTreeMap<(Kin<'a>, Vec<&'a str>), Asked<'a>>,
}

/// One stream over all levels: the most loads of any level, and the first level without loads.
#[derive(Default)]
struct Swept<'a> {
    most: f64,
    none: Option<&'a Group<'a>>,
}

/// One stream over all numbers of users: the most of them, and the level with the fewest.
struct Asked<'a> {
    most: f64,
    fewest: (f64, &'a Group<'a>),
}

impl<'a> Baselines<'a> {
    fn of(groups: &'a [Group<'a>]) -> Baselines<'a> {
        let mut swept = BTreeMap::<_, Swept>::new();
        for (group, loaded) in groups.iter().filter_map(|group| Some((group, second(group)?))) {
            let one = swept.entry(group.kin()).or_default();
            one.most = one.most.max(asked_load(group, loaded));
            one.none = one.none.or(Some(group).filter(|_| loaded == 0.0));
        }
        let mut asked = BTreeMap::<_, Asked>::new();
        for (group, users) in groups.iter().filter_map(|group| Some((group, users(group)?))) {
            let one = asked.entry(varied(group)).or_insert(Asked { most: users, fewest: (users, group) });
            one.most = one.most.max(users);
            if users < one.fewest.0 {
                one.fewest = (users, group);
            }
        }
        let unnamed: Vec<Point> = groups.iter().map(|group| elsewhere(&group.point)).collect();
        Baselines { groups, places: Places::of(&unnamed), swept, asked }
    }

    /// What a point is held against, each with the number of what it is told in: the point without what this one has beside it, or
    /// without loads; and of the most users, who cost loads, the point with the fewest.
    fn baselines(&self, group: &Group) -> Vec<(&'a Group<'a>, usize)> {
        if streams(group).len() > 1 {
            let point = elsewhere(&group.point);
            let near = self.places.near(&point).into_iter().map(|place| &self.groups[place]);
            let mut alone = near.filter(|other| streams(other).len() == 1);
            return alone
                .find(|other| elsewhere(&other.point) == point)
                .map(|alone| (alone, FIRST))
                .into_iter()
                .collect();
        }
        let Some(loaded) = second(group).filter(|loaded| *loaded > 0.0) else { return Vec::new() };
        let swept = self.swept.get(&group.kin());
        let none = swept.and_then(|swept| swept.none.filter(|_| asked_load(group, loaded) == swept.most));
        let asked = users(group).zip(self.asked.get(&varied(group))).filter(|_| !as_asked(group));
        let fewest = asked.and_then(|(users, Asked { most, fewest: (fewest, baseline) })| {
            Some(*baseline).filter(|_| users == *most && fewest < most)
        });
        none.map(|none| (none, FIRST)).into_iter().chain(fewest.map(|fewest| (fewest, LOADS))).collect()
    }
}

/// How many users ask, where that is varied.
fn users(group: &Group) -> Option<f64> {
    group.point.factors.iter().find(|factor| factor.name == USERS)?.level.number()
}

/// How much loads are asked for, where that is varied; else how much they gave. Chance must not choose which point is the most.
fn asked_load(group: &Group, loaded: f64) -> f64 {
    let level = group.point.factors.iter().find(|factor| factor.name == LOAD_RATE).map(|factor| &factor.level);
    let full = level.filter(|level| level.text() == FULL).map(|_| f64::INFINITY);
    full.or(level.and_then(Level::number)).unwrap_or(loaded)
}

/// A stream with the levels of all that is varied but users.
fn varied<'a>(group: &'a Group<'_>) -> (Kin<'a>, Vec<&'a str>) {
    let others = group.point.factors.iter().filter(|factor| factor.name != USERS);
    (group.kin(), others.map(|factor| factor.level.text()).collect())
}

/// The same point of no experiment.
fn elsewhere(point: &Point) -> Point {
    Point { experiment: String::new(), ..point.clone() }
}

fn streams<'a>(group: &'a Group) -> &'a [StreamLabel] {
    group.members.first().map_or(&[], |(trial, _)| trial.label.streams.as_slice())
}

/// What is given a second beside what is counted first: rows loaded.
fn second(group: &Group) -> Option<f64> {
    let given = group.members.iter().map(|(_, stream)| Some(stream.yields.get(1)?.per_s.value));
    Some(given.sum::<Option<f64>>()? / group.members.len() as f64)
}

/// Whether loads come by a clock of their own and kept up with it: how many there were is what was asked for, at any point.
fn as_asked(group: &Group) -> bool {
    let kept_up = |(trial, stream): &super::pairs::Member| {
        let loads = stream.yields.get(LOADS)?;
        let label = trial.label.streams.get(usize::from(stream.stream))?;
        let offered_per_s = label.offered_of(&loads.what)?;
        Some(
            offered_per_s - loads.per_s.value
                <= (loads.most / trial.window.length().seconds()).max(0.05 * offered_per_s),
        )
    };
    group.members.iter().all(|member| kept_up(member) == Some(true))
}

fn of((baseline, group): (&Group, &Group), what: usize, confidence: f64) -> Option<Beside> {
    let (_, stream) = group.members.first()?;
    let given = stream.yields.get(what).and_then(|given| Yield::of_word(&given.what));
    let others = streams(group).iter().map(|one| one.name.clone()).filter(|name| *name != group.point.stream);
    let metric = given.map_or(Metric::Throughput, Metric::Yield);
    Some(Beside {
        point: group.point.clone(),
        baseline: baseline.point.clone(),
        beside: others.collect(),
        what: given.map(|given| given.word().to_owned()),
        ratio: ratio(baseline, group, metric, confidence)?,
        response: ratio(baseline, group, Metric::ResponseMean, confidence).filter(|_| what == FIRST),
    })
}

/// Two pairs or more scatter; of one, both trials say how sure they are.
pub(super) fn ratio(baseline: &Group, group: &Group, metric: Metric, confidence: f64) -> Option<Estimate> {
    let own = |member: &super::pairs::Member| own_estimate(member.0, member.1, metric).map(|own| own.value);
    let pairs = pairs(&baseline.members, &group.members, own);
    let (before, after) = (baseline.estimate(metric, confidence)?, group.estimate(metric, confidence)?);
    let n = pairs.len() as u32;
    let floor = |group: &Group, value: f64| (group.floor(metric) / value).ln_1p();
    let test = paired_test(&pairs, floor(baseline, before.value) + floor(group, after.value));
    let simulated = |group: &Group| group.members.iter().all(|(trial, _)| trial.provenance == Provenance::Simulated);
    let test = test.map(|test| if simulated(group) { test.of_independent() } else { test });
    if let Some(test) = test.filter(|test| test.shape.freedom >= 1.0) {
        let (low, high) = test.ratio_interval(confidence);
        return Some(Estimate { value: test.effect.exp(), low, high, n, confidence });
    }
    let value = after.value / before.value;
    let bare = Estimate { n, confidence, ..Estimate::single(value) };
    let half = half(&before).hypot(half(&after));
    let known = value.is_finite() && value > 0.0;
    known.then(|| match half.is_finite() {
        true => Estimate { low: value * (-half).exp(), high: value * half.exp(), ..bare },
        false => bare,
    })
}

/// The larger half of an interval as a logarithm.
fn half(estimate: &Estimate) -> f64 {
    let ends = [estimate.high / estimate.value, estimate.value / estimate.low];
    ends.into_iter().map(f64::ln).fold(f64::NAN, f64::max)
}

impl Beside {
    /// What it is held against, by the name of its experiment or by its level: `alone`, `load_rate off`.
    pub fn against(&self) -> String {
        match self.baseline.experiment == self.point.experiment {
            true => self.baseline.at().trim_start_matches(" at ").to_owned(),
            false => self.baseline.experiment.clone(),
        }
    }

    /// `0.576 times as many postings (0.398 to 0.833), with 1.9 times the mean latency (1.52 to 2.31), compared with alone`.
    pub fn says(&self) -> String {
        let against = self.against();
        let work = match &self.what {
            Some(what) => format!("as many {what}"),
            None => "the throughput".to_owned(),
        };
        let response = self.response.map(|response| format!(", with {}", times(&response, "the mean latency")));
        let figures = format!("{}{}", times(&self.ratio, &work), response.unwrap_or_default());
        format!("{figures}, compared with {against}{}", self.undecided())
    }

    /// The same as a sentence: `While night goes on, day does 0.576 times as many postings .., compared with alone.`
    pub(crate) fn sentence(&self) -> String {
        match self.beside.is_empty() {
            true => format!("At{}: {}.", self.point.at().trim_start_matches(" at"), self.says()),
            false => {
                format!("While {} goes on, {} does {}.", self.beside.join(" and "), self.point.stream, self.says())
            }
        }
    }

    /// What cannot be said yet, with what would help.
    fn undecided(&self) -> String {
        if !self.ratio.has_interval() {
            return "; without an interval: `--set replicates=3`".to_owned();
        }
        // Without an interval there is nothing to claim either way.
        let open = |ratio: &Estimate| ratio.low <= 1.0 && ratio.high >= 1.0;
        let work = self.what.as_deref().unwrap_or("throughput");
        match (open(&self.ratio), self.response.as_ref().map(open)) {
            (false, None | Some(false)) => String::new(),
            (true, None) => "; no difference can be shown".to_owned(),
            (true, Some(true)) => "; no difference can be shown in either".to_owned(),
            (true, Some(false)) => format!("; the latency differs, and no difference can be shown in {work}"),
            (false, Some(true)) => "; no difference can be shown in the latency".to_owned(),
        }
    }

    /// `day beside night`, `reports at load_rate full`.
    pub fn subject(&self) -> String {
        let beside = match self.beside.is_empty() {
            true => String::new(),
            false => format!(" beside {}", self.beside.join(" and ")),
        };
        format!("{}{beside}{}", self.point.stream, self.point.at())
    }
}

fn times(ratio: &Estimate, of: &str) -> String {
    format!("{} times {of}{}", units::ratio(ratio.value), ratio.ends(units::ratio))
}

#[cfg(test)]
mod tests {
    use crate::run::tests::{judgement, trial};
    use crate::{Beside, TrialSummary, YieldSummary, judge};
    use observation::{Factor, Level, Provenance, RunFacts};
    use study::Yield;

    fn found(trials: Vec<TrialSummary>) -> (Vec<Beside>, String) {
        let judged = judge(RunFacts::default(), trials, &judgement());
        (judged.findings.iter().filter_map(Beside::of).cloned().collect(), judged.answer.join(" "))
    }

    /// A trial at these levels, whose stream gives two things.
    fn giving(index: u32, per_s: f64, levels: &[(&str, Level)], given: [(Yield, f64); 2]) -> TrialSummary {
        let mut trial = trial(index, "a", 0, per_s);
        let factor = |(name, level): &(&str, Level)| Factor { name: (*name).to_owned(), level: level.clone() };
        trial.label.factors = levels.iter().map(factor).collect();
        let rate = trial.streams[0].throughput_per_s;
        let given = given.map(|(what, value)| YieldSummary {
            what: what.word().to_owned(),
            per_s: rate.scaled(value / per_s),
            most: 1.0,
        });
        trial.streams[0].yields = given.into();
        trial
    }

    fn users(users: f64) -> (&'static str, Level) {
        ("users", Level::Number { value: users, text: users.to_string() })
    }

    fn load_rate(word: &str) -> (&'static str, Level) {
        ("load_rate", Level::Word(word.to_owned()))
    }

    /// Reports beside loads at a rate.
    fn at_rate(index: u32, text: &str, steps: f64, rows: f64) -> TrialSummary {
        giving(index, steps, &[load_rate(text)], [(Yield::DialogSteps, steps), (Yield::LoadedRows, rows)])
    }

    /// The same stream in an experiment of its own and beside another one.
    fn run(blocks: u32, left: f64) -> Vec<TrialSummary> {
        let mut trials = Vec::new();
        for block in 0..blocks {
            let mut alone = trial(2 * block, "a", block, 1000.0 * (1.0 + 0.01 * f64::from(block)));
            alone.label.experiment = "alone".to_owned();
            let mut both = trial(2 * block + 1, "a", block, 1000.0 * left);
            let mut scan = both.label.streams[0].clone();
            scan.name = "scan".to_owned();
            both.label.streams.push(scan);
            trials.extend([alone, both]);
        }
        trials
    }

    #[test]
    fn what_a_stream_loses_beside_another_is_a_ratio_with_an_interval() {
        for blocks in [1, 4] {
            let (found, _) = found(run(blocks, 0.5));
            let [one] = found.as_slice() else { panic!("one stream is beside another: {found:?}") };
            assert_eq!(
                (one.subject().as_str(), one.baseline.experiment.as_str()),
                ("random-read beside scan", "alone")
            );
            assert!((0.4..0.5).contains(&one.ratio.low) && (0.48..0.6).contains(&one.ratio.high), "{one:?}");
            assert!(one.says().ends_with(", compared with alone") && !one.says().contains("can be shown"));
        }
    }

    #[test]
    fn an_interval_that_holds_one_shows_no_difference() {
        let (found, _) = found(run(1, 0.99));
        assert!(found[0].says().contains("no difference can be shown"), "{found:?}");
    }

    #[test]
    fn a_response_that_differs_is_named_where_the_work_does_not() {
        let (found, _) = found(run(1, 0.99));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        let ratio =
            |value: f64| crate::Estimate { low: 0.9 * value, high: 1.1 * value, ..crate::Estimate::single(value) };
        let told = Beside { ratio: ratio(1.0), response: Some(ratio(1.3)), ..one.clone() }.says();
        assert!(told.ends_with("; the latency differs, and no difference can be shown in throughput"), "{told}");
        let neither = Beside { ratio: ratio(1.0), response: Some(ratio(1.0)), ..one.clone() }.says();
        assert!(neither.ends_with("; no difference can be shown in either"), "{neither}");
    }

    #[test]
    fn loads_that_come_as_asked_for_cost_nothing_that_could_be_told() {
        let at = |index: u32, asking: f64, rows: f64| {
            let given = [(Yield::DialogSteps, 100.0 * asking), (Yield::LoadedRows, rows)];
            let mut one = giving(index, 100.0, &[users(asking)], given);
            let offered = observation::Gives {
                class: 0,
                amount: 1.0,
                what: Yield::LoadedRows.word().into(),
                offered_per_s: Some(50.0),
            };
            one.label.streams[0].gives = vec![offered];
            one
        };
        let (kept_up, _) = found(vec![at(0, 1.0, 50.0), at(1, 4.0, 49.5)]);
        assert!(kept_up.is_empty(), "{kept_up:?}");
        let (behind, _) = found(vec![at(0, 1.0, 50.0), at(1, 4.0, 20.0)]);
        assert_eq!(behind.len(), 1, "loads that fell behind are told");
    }

    #[test]
    fn what_the_most_users_cost_loads_is_told_in_rows_against_the_fewest() {
        let level = |index: u32, asking: f64, rows: f64| {
            let steps = 100.0 * asking;
            giving(index, steps, &[users(asking)], [(Yield::DialogSteps, steps), (Yield::LoadedRows, rows)])
        };
        let (found, answer) = found(vec![level(0, 1.0, 50.0), level(1, 4.0, 40.0), level(2, 16.0, 20.0)]);
        let [most] = found.as_slice() else { panic!("the most against the fewest: {found:?}") };
        assert_eq!((most.what.as_deref(), most.response), (Some("rows loaded"), None));
        assert!((most.ratio.value - 0.4).abs() < 1e-9, "{most:?}");
        assert!(answer.contains("0.400 times as many rows loaded") && answer.contains("compared with"), "{answer}");
    }

    #[test]
    fn where_users_and_loads_are_varied_both_costs_are_told() {
        let level = |index: u32, asking: f64, load: &str, rows: f64| {
            let given = [(Yield::DialogSteps, 100.0), (Yield::LoadedRows, rows)];
            giving(index, 100.0, &[users(asking), load_rate(load)], given)
        };
        let of = |at: u32, users| [level(at, users, "off", 0.0), level(at + 1, users, "full", 60.0 - 10.0 * users)];
        let (found, _) = found([of(0, 1.0), of(2, 4.0)].concat());
        let told: Vec<_> = found.iter().map(|one| (one.point.at(), one.what.as_deref().unwrap_or_default())).collect();
        assert!(told.iter().any(|(at, what)| at.contains("full") && *what == "rows loaded"), "{told:?}");
        assert!(told.iter().any(|(at, what)| at.contains("full") && *what == "dialog steps"), "{told:?}");
    }

    #[test]
    fn as_fast_as_it_goes_is_the_most_although_chance_gave_another_rate_more() {
        let (found, _) =
            found(vec![at_rate(0, "off", 100.0, 0.0), at_rate(1, "4000", 80.0, 51.0), at_rate(2, "full", 60.0, 50.0)]);
        let [full] = found.as_slice() else { panic!("the most against none: {found:?}") };
        assert_eq!(full.point.at(), " at load_rate full");
    }

    #[test]
    fn the_interval_of_what_is_simulated_shrinks_with_the_root_of_its_pairs() {
        let width = |blocks: u32, provenance: Provenance| {
            let mut trials = run(blocks, 0.5);
            trials.iter_mut().for_each(|trial| trial.provenance = provenance);
            // All trials of one experiment come first, as where experiments are not run in turns.
            trials.sort_by_key(|trial| trial.label.streams.len());
            (0u32..).zip(&mut trials).for_each(|(at, trial)| {
                trial.label.index = at;
                let noise = [-0.02, 0.02][trial.label.block as usize / 2 % 2];
                let both = trial.label.streams.len() > 1;
                trial.streams[0].throughput_per_s.value = if both { 500.0 * (1.0 + noise) } else { 1000.0 };
            });
            let (found, _) = found(trials);
            (found[0].ratio.high / found[0].ratio.low).ln()
        };
        let simulated = width(16, Provenance::Simulated);
        assert!(simulated < 0.6 * width(4, Provenance::Simulated), "{simulated}");
        assert!(simulated < 0.6 * width(16, Provenance::Measured), "the order of what is measured costs");
    }

    #[test]
    fn the_most_loads_are_held_against_none_and_the_answer_says_what_they_cost() {
        let (found, answer) =
            found(vec![at_rate(0, "off", 100.0, 0.0), at_rate(1, "500", 110.0, 5.0), at_rate(2, "full", 60.0, 50.0)]);
        let [full] = found.as_slice() else { panic!("the most against none: {found:?}") };
        assert_eq!(
            (full.point.at().as_str(), full.baseline.at().as_str()),
            (" at load_rate full", " at load_rate off")
        );
        assert!((full.ratio.value - 0.6).abs() < 1e-9 && full.ratio.high < 1.0, "{full:?}");
        // The primary point is the fastest, 500: what another one costs is not its answer.
        assert!(!answer.contains("0.600 times"), "{answer}");
    }
}
