//! When pieces arrive, worked out by hand and for any pieces.

use super::*;
use proptest::prelude::*;
use study::Aggressor;
use units::PerSecond;

fn shape(text: &str) -> Wire {
    Wire::parse(text).expect("a path")
}

fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

#[test]
fn a_piece_waits_for_the_wire_takes_its_time_and_then_the_distance() {
    let (mut lane, path) = (Lane::new(1), shape("delay=10ms capacity=1MB/s"));
    assert_eq!(lane.arrival(ms(0), 1000, &path), ms(11));
    // The wire is taken until 1 ms.
    assert_eq!(lane.arrival(ms(0), 2000, &path), ms(13));
    assert_eq!(lane.arrival(ms(50), 1000, &path), ms(61));
}

#[test]
fn who_has_a_share_takes_no_more_than_it_and_no_more_than_it_wants() {
    for (words, per_piece) in [
        ("capacity=1MB/s aggressor=900kB/s share=50%", 2.0),
        ("capacity=1MB/s aggressor=200kB/s share=50%", 1.25),
        ("capacity=1MB/s aggressor=10MB/s share=75%", 4.0),
    ] {
        let (mut lane, path) = (Lane::new(1), shape(words));
        let last = (0..1000).map(|_| lane.arrival(ms(0), 1000, &path)).last().expect("pieces");
        assert!((last.milliseconds() / 1000.0 - per_piece).abs() < 0.001, "{words}: {last:?}");
    }
}

#[test]
fn without_shares_a_stream_that_wants_all_makes_everybody_wait_behind_a_full_queue() {
    let (mut lane, path) = (Lane::new(1), shape("capacity=1MB/s aggressor=2MB/s"));
    lane.arrival(ms(0), 100, &path);
    let later = lane.arrival(ms(5_000), 100, &path);
    assert!((later.milliseconds() - 5_000.0 - 262.2).abs() < 0.2, "{later:?}");
    let (mut lane, path) = (Lane::new(1), shape("capacity=1MB/s aggressor=500kB/s"));
    lane.arrival(ms(0), 100, &path);
    assert_eq!(lane.arrival(ms(5_000), 1000, &path), ms(5_001), "half of the wire leaves no queue");
}

#[test]
fn a_stream_and_somebody_elses_share_one_queue_in_proportion_to_what_each_would_send() {
    for (demand, wanted) in [("5MB/s", 10.0 / 1.5), ("10MB/s", 5.0), ("500MB/s", 10.0 / 51.0)] {
        let (mut lane, path) = (Lane::new(1), shape(&format!("capacity=10MB/s aggressor={demand}")));
        let last = (0..1_000).map(|_| lane.arrival(ms(0), 10_000, &path)).last().expect("pieces");
        let rate = 10.0 / last.seconds();
        assert!((rate / wanted - 1.0).abs() < 0.01, "{demand}: {rate} MB/s");
    }
}

proptest! {
    #[test]
    fn nothing_overtakes_arrives_early_or_faster_than_the_wire(
        pieces in prop::collection::vec((0_u64..3_000_000, 1_usize..100_000), 1..100),
        delay in 0_u64..2_000_000,
        jitter in 0_u64..2_000_000,
        demand in 0_u64..200_000_000,
    ) {
        let capacity = PerSecond(1e8);
        let aggressor = Some(Aggressor { demand: PerSecond(demand as f64), share: None });
        let path = Wire { delay: Nanos(delay), jitter: Nanos(jitter), capacity: Some(capacity), aggressor, tls: false };
        let (mut lane, mut now, mut last, mut bytes) = (Lane::new(7), Nanos::ZERO, Nanos::ZERO, 0);
        for (pause, size) in pieces {
            now += Nanos(pause);
            bytes += size;
            let due = lane.arrival(now, size, &path);
            prop_assert!(due >= last && due >= now + path.delay);
            prop_assert!(due.seconds() + 1e-6 >= bytes as f64 / capacity.0 + path.delay.seconds());
            last = due;
        }
    }
}
