//! Small networks against what queueing theory says of them.

mod network;
mod run;

use crate::form::{closed, waiting};
use crate::kernel::tests::{across, of_batches};
use network::{Network, NetworkError, Place, Source, Time};
use run::run;

const EXPONENTIAL: f64 = 1.0;

fn time(mean_us: f64, variation: f64) -> Time {
    Time { mean_ns: mean_us * 1e3, variation }
}

fn open(per_s: f64, place: Place, seed: u64, rounds: u64) -> Network {
    Network { source: Source::Poisson { per_s, room: 4_096 }, places: vec![place], seed, warm_up: rounds / 10, rounds }
}

/// Mean time in the network over several seeds, against what theory says: bias under a percent.
fn holds(theory_s: f64, network: impl Fn(u64) -> Network) {
    let means: Vec<f64> = (1..=8).map(|seed| run(&network(seed)).unwrap().round_s).collect();
    let found = across(&means);
    assert!((found.mean / theory_s - 1.0).abs() < 0.01, "{found:?} against {theory_s}");
}

#[test]
fn one_server_waits_as_theory_says() {
    // M/M/1 at 0.8: R = S / (1 - rho). M/D/1: waiting is half of that.
    holds(500e-6, |seed| open(8_000.0, Place::Servers { count: 1, service: time(100.0, EXPONENTIAL) }, seed, 400_000));
    holds(300e-6, |seed| open(8_000.0, Place::Servers { count: 1, service: time(100.0, 0.0) }, seed, 400_000));
}

#[test]
fn many_servers_wait_as_erlang_says() {
    let theory = 100e-6 * waiting::shared(6.4, 8.0);
    holds(theory, |seed| open(64_000.0, Place::Servers { count: 8, service: time(100.0, EXPONENTIAL) }, seed, 400_000));
}

#[test]
fn sharing_does_not_care_how_times_vary() {
    for variation in [0.0, 1.0, 2.0] {
        let place = || Place::Sharing { work: vec![0.0, 1.0], service: time(100.0, variation) };
        holds(100e-6 / 0.3, |seed| open(7_000.0, place(), seed, 400_000));
    }
}

#[test]
fn a_closed_network_is_the_exact_one() {
    let places = || {
        vec![
            Place::Delay { service: time(1_000.0, EXPONENTIAL) },
            Place::Servers { count: 1, service: time(60.0, EXPONENTIAL) },
            Place::Sharing { work: vec![0.0, 1.0, 1.5, 1.8], service: time(100.0, EXPONENTIAL) },
        ]
    };
    for population in [1, 4, 16, 64] {
        let network = |seed| Network {
            source: Source::Closed(population),
            places: places(),
            seed,
            warm_up: 20_000,
            rounds: 200_000,
        };
        let exact = product_form(population, 1e-3, 60e-6, |n| [0.0, 1.0, 1.5, 1.8][n.min(3)] / 100e-6);
        let rates: Vec<f64> = (1..=8).map(|seed| run(&network(seed)).unwrap().rate_per_s).collect();
        let found = across(&rates);
        assert!((found.mean / exact - 1.0).abs() < 0.01, "{population}: {found:?} against {exact}");
    }
}

/// A delay, a single server and a station of any pace, by summing the product form over all states.
fn product_form(population: u32, delay: f64, service: f64, pace: impl Fn(usize) -> f64) -> f64 {
    let sum = |customers: usize| -> f64 {
        let mut total = 0.0;
        for one in 0..=customers {
            let mut weight = service.powi(one as i32);
            for at in 0..=customers - one {
                let away = customers - one - at;
                let thinking: f64 = (1..=away).map(|n| delay / n as f64).product();
                total += weight * thinking;
                weight /= pace(at + 1);
            }
        }
        total
    };
    sum(population as usize - 1) / sum(population as usize)
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let exact = closed::one_station(12, 1e-3, |n| f64::from(n.min(2)) / 200e-6);
    let covered = (0..500u64)
        .filter(|seed| {
            let places = vec![
                Place::Delay { service: time(1_000.0, EXPONENTIAL) },
                Place::Servers { count: 2, service: time(200.0, EXPONENTIAL) },
            ];
            let network = Network { source: Source::Closed(12), places, seed: *seed, warm_up: 2_000, rounds: 32_000 };
            let seen = run(&network).unwrap();
            of_batches(&seen.batches_s, 32).holds(12.0 / exact.rate_per_s)
        })
        .count();
    assert!((460..=490).contains(&covered), "{covered} of 500");
}

#[test]
fn littles_law_holds_in_every_run() {
    for population in [1, 7, 40] {
        let places = vec![
            Place::Servers { count: 3, service: time(50.0, 0.5) },
            Place::Sharing { work: vec![0.0, 1.0, 2.0], service: time(80.0, 1.5) },
        ];
        let network = Network { source: Source::Closed(population), places, seed: 3, warm_up: 10_000, rounds: 100_000 };
        let seen = run(&network).unwrap();
        assert!(seen.little.abs() < 1e-3, "{population}: {}", seen.little);
        let there: f64 = seen.places.iter().map(|(mean, _)| mean).sum();
        assert!((there / f64::from(population) - 1.0).abs() < 1e-6, "nobody is nowhere");
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let network = |seed| open(8_000.0, Place::Servers { count: 1, service: time(100.0, EXPONENTIAL) }, seed, 10_000);
    assert_eq!(run(&network(1)), run(&network(1)));
    assert_ne!(run(&network(1)).unwrap().round_s, run(&network(2)).unwrap().round_s);
}

#[test]
fn nonsense_is_refused() {
    let place = |count, mean_us| Place::Servers { count, service: time(mean_us, 1.0) };
    let refused = |place| run(&open(1_000.0, place, 1, 10)).unwrap_err().to_string();
    assert_eq!(refused(place(0, 100.0)), "servers of a place: at least one, got none");
    assert_eq!(refused(place(1, -5.0)), "place 1: the mean of its time is a number above zero, got -5000");
    let crowded = run(&open(20_000.0, place(1, 100.0), 1, 1_000_000)).unwrap_err();
    assert_eq!(crowded, NetworkError::Overflow { room: 4_096 });
}
