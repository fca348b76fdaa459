//! How many visits of stations a processor simulates: the work of a speed test, without its clock.

use super::Servers;
use crate::kernel::Agenda;
use random::Draws;
use units::Nanos;

/// Who goes round.
const CUSTOMERS: u32 = 64;

/// Servers of the two stations, and the mean of a visit in nanoseconds.
const STATIONS: [(u32, f64); 2] = [(1, 2_000.0), (32, 80_000.0)];

/// Sends 64 customers so many times round between one server and thirty-two, in exponential times; the answer is how many
/// events that took.
pub fn ceiling(rounds: u64) -> u64 {
    let room = CUSTOMERS as usize;
    let mut agenda = Agenda::with_capacity(2 * room + 16);
    let mut stations = [0, 1].map(|place: usize| {
        (Servers::new(STATIONS[place].0, room), STATIONS[place].1, Draws::numbered(1, 1 + place as u64))
    });
    let mut visit = |agenda: &mut Agenda<(u32, usize)>, now: Nanos, who: u32, place: usize, leaves: bool| {
        if leaves && let Some((next, end)) = stations[1 - place].0.depart(now) {
            agenda.at(end, (next, 1 - place));
        }
        let (servers, mean_ns, draws) = &mut stations[place];
        let service = Nanos(libm::round(*mean_ns * draws.varied(1.0)) as u64);
        if let Some(end) = servers.arrive(now, who, service) {
            agenda.at(end, (who, place));
        }
    };
    (0..CUSTOMERS).for_each(|who| visit(&mut agenda, Nanos(0), who, 0, false));
    let mut done = 0;
    while done < rounds
        && let Some((now, (who, place))) = agenda.take()
    {
        done += u64::from(place == 1);
        visit(&mut agenda, now, who, 1 - place, true);
    }
    agenda.happened()
}
