//! What the stations of a model did, as series and in words, and Little's law over all of them.
//!
//! The one idea: many alike parts are told by the busiest and by their mean; whoever is busiest of all is what the answer is
//! bound by. A simulation that breaks Little's law is wrong and gives no answer.

use crate::TrialError;
use model::machine::{Cores, Outside, Stand, Standing, StationReport};
use observation::{Account, Event, EventKind, MirrorState, Probe, Series, Whole, Window};
use units::Nanos;

/// Alike stations by the words of their names.
struct Group<'a> {
    name: String,
    stations: Vec<&'a StationReport>,
}

impl Group<'_> {
    fn mean(&self) -> f64 {
        self.stations.iter().map(|station| station.utilisation).sum::<f64>() / self.stations.len() as f64
    }

    fn busiest(&self) -> &StationReport {
        let busier = |a: &&&StationReport, b: &&&StationReport| a.utilisation.total_cmp(&b.utilisation);
        self.stations.iter().rev().max_by(busier).expect("a group has a station")
    }

    /// `module`, or `modules: busiest` and the mean of them.
    fn series(&self, at: Nanos) -> Vec<Series> {
        let series = |name: String, value: f64| Series { probe: Probe::Station(name), points: vec![(at, value)] };
        let name = &self.name;
        if self.stations.len() == 1 {
            return vec![series(name.clone(), self.mean())];
        }
        vec![series(format!("{name}.mean"), self.mean()), series(format!("{name}.busiest"), self.busiest().utilisation)]
    }
}

/// Names without their numbers: `port 3 out` is a `port-out`.
fn groups(reports: &[StationReport]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for station in reports {
        let words: Vec<&str> = station.name.split(' ').filter(|word| word.parse::<u32>().is_err()).collect();
        let name = words.join("-");
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.stations.push(station),
            None => groups.push(Group { name, stations: vec![station] }),
        }
    }
    groups
}

/// Utilisations over the window, which ended at `at`.
pub(crate) fn series(reports: &[StationReport], at: Nanos) -> Vec<Series> {
    groups(reports).iter().flat_map(|group| group.series(at)).collect()
}

/// How many slots were outside of responses, on the mean over the window, by what they did there.
pub(crate) fn outside(what: Outside, outside_ns: u128, window: Window, at: Nanos) -> Series {
    let mean = outside_ns as f64 / window.length().0.max(1) as f64;
    let probe = match what {
        Outside::Driver => Whole::OutsideDriver,
        Outside::Think => Whole::OutsideThink,
    };
    Series { probe: probe.into(), points: vec![(at, mean)] }
}

/// The cores of a server, and how many of them it kept busy, under the names that probes of a real one have.
pub(crate) fn cores(cores: &Cores, at: Nanos) -> [Series; 2] {
    let series = |probe: Whole, value: f64| Series { probe: probe.into(), points: vec![(at, value)] };
    [series(Whole::ServerCores, cores.count), series(Whole::ServerCpuBusy, cores.busy)]
}

/// How a mirror stood, under the names that whoever looks after a real one keeps; nothing where nothing happened to it.
pub(crate) fn mirror(course: &[Stand]) -> Vec<Series> {
    let state = |stand: &Stand| match stand.standing {
        Standing::Follows => MirrorState::Follows,
        Standing::Gone => MirrorState::Gone,
        Standing::Silent => MirrorState::Silent,
        Standing::Asked => MirrorState::Asked,
        Standing::CatchesUp => MirrorState::CatchesUp,
    };
    let series = |probe: Whole, level: &dyn Fn(&Stand) -> f64| Series {
        probe: probe.into(),
        points: course.iter().map(|stand| (stand.at, level(stand))).collect(),
    };
    if course.is_empty() {
        return Vec::new();
    }
    vec![
        series(Whole::MirrorState, &|stand| state(stand).number()),
        series(Whole::MirrorKept, &|stand| stand.kept_bytes as f64),
        series(Whole::MirrorSent, &|stand| stand.sent_bytes as f64),
        series(Whole::MirrorWaiting, &|stand| f64::from(stand.waiting)),
    ]
}

/// Which station was the busiest, in words; nothing of a machine without stations.
pub(crate) fn bottleneck(reports: &[StationReport], at: Nanos) -> Option<Event> {
    let groups = groups(reports);
    let busier = |a: &&Group<'_>, b: &&Group<'_>| a.busiest().utilisation.total_cmp(&b.busiest().utilisation);
    let first = groups.iter().rev().max_by(busier)?;
    let station = first.busiest();
    let alike = match first.stations.len() {
        1 => String::new(),
        count => format!(", {} on the mean of {count}", units::percent(first.mean())),
    };
    let text = format!("model: busiest station {} at {}{alike}", station.name, units::percent(station.utilisation));
    Some(Event { at, kind: EventKind::Note, text })
}

/// How far a simulation may be from Little's law.
const LITTLE: f64 = 0.001;

/// Holds the time that operations were inside, counted by the port, against what was recorded of each; and the slots of
/// closed loads against where their time went. Beside each account stands what was outside of its responses: it was inside and
/// is no part of what was recorded.
pub(crate) fn little(accounts: &[(Account, u128)], inside_ns: u128, fixed: bool) -> Result<(), TrialError> {
    let seen: u128 = accounts.iter().map(|(account, outside_ns)| account.service_ns + outside_ns).sum();
    hold("time inside the model", inside_ns, seen)?;
    let closed = || accounts.iter().filter(|(account, _)| account.slots_ns > 0 && !fixed);
    let slots = closed().map(|(account, _)| account.slots_ns).sum();
    let spent = |(account, outside_ns): &(Account, u128)| {
        account.service_ns + account.think_ns + account.lateness_ns + outside_ns
    };
    hold("time of the slots", slots, closed().map(spent).sum())
}

fn hold(what: &'static str, integrated: u128, recorded: u128) -> Result<(), TrialError> {
    let off = (integrated as f64 - recorded as f64).abs() / (integrated.max(recorded).max(1)) as f64;
    if off <= LITTLE {
        return Ok(());
    }
    Err(TrialError::Little { what, integrated_s: integrated as f64 / 1e9, recorded_s: recorded as f64 / 1e9 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, utilisation: f64) -> StationReport {
        StationReport { name: name.to_owned(), utilisation, mean_there: 1.0, completed: 10 }
    }

    #[test]
    fn many_alike_stations_are_told_by_the_busiest_and_the_mean() {
        let reports =
            [report("module 0", 0.5), report("module 1", 0.7), report("host", 0.2), report("port 0 out", 0.1)];
        let told = series(&reports, Nanos(9));
        let told: Vec<(String, f64)> =
            told.iter().map(|series| (series.probe.to_string(), series.points[0].1)).collect();
        let told: Vec<(&str, f64)> = told.iter().map(|(probe, value)| (probe.as_str(), *value)).collect();
        assert_eq!(
            told,
            [
                ("model.module.mean.utilisation", 0.6),
                ("model.module.busiest.utilisation", 0.7),
                ("model.host.utilisation", 0.2),
                ("model.port-out.utilisation", 0.1),
            ]
        );
        let event = bottleneck(&reports, Nanos(9)).unwrap();
        assert_eq!(event.text, "model: busiest station module 1 at 70%, 60% on the mean of 2");
    }

    #[test]
    fn time_outside_of_responses_is_told_by_what_it_is() {
        let window = Window { start: Nanos(100), end: Nanos(300) };
        let told = outside(Outside::Think, 500, window, Nanos(300));
        assert_eq!((told.probe, told.points), (Whole::OutsideThink.into(), vec![(Nanos(300), 2.5)]));
    }

    #[test]
    fn a_simulation_off_littles_law_is_a_defect() {
        let account = Account { service_ns: 999_500, slots_ns: 1_000_000, ..Account::default() };
        assert!(little(&[(account, 0)], 1_000_000, false).is_ok());
        let lost = Account { service_ns: 998_000, ..account };
        assert!(little(&[(lost, 0)], 1_000_000, true).unwrap_err().to_string().contains("Little"));
        assert!(little(&[(lost, 0)], 998_000, false).is_err(), "two thousandths of the slots went nowhere");
        assert!(little(&[(lost, 0)], 998_000, true).is_ok());
        assert!(little(&[(lost, 2_000)], 1_000_000, false).is_ok(), "the driver had them");
        let open = Account { service_ns: 500_000, ..Account::default() };
        let both = [(lost, 2_000), (open, 300_000)];
        assert!(little(&both, 1_800_000, false).is_ok(), "what is outside beside an open load is no time of slots");
    }
}
