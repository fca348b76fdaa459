//! The loop of a small network.

use super::network::{Network, NetworkError, Place, Seen, Source, Time};
use crate::kernel::Agenda;
use crate::station::{Servers, Sharing, Watch};
use random::Draws;
use units::Nanos;

/// Means of so many batches are kept.
const BATCHES: u64 = 64;

#[derive(Clone, Copy)]
enum Event {
    /// A customer comes from outside.
    Come,
    /// A customer is done at a place.
    Done { who: u32, place: u16 },
    /// Somebody is done at a shared place, if nothing has changed since.
    Shared { place: u16, state: u32 },
}

enum Machine {
    Servers(Servers),
    Sharing(Sharing),
    Delay(u32, Watch),
}

struct Loop {
    agenda: Agenda<Event>,
    machines: Vec<Machine>,
    times: Vec<Time>,
    draws: Vec<Draws>,
    /// When each customer began his round.
    began: Vec<u64>,
    idle: Vec<u32>,
    here: Watch,
    inside: u32,
}

/// Runs a network until its rounds are done.
///
/// # Errors
/// When it makes no sense, or cannot carry what is offered.
pub fn run(network: &Network) -> Result<Seen, NetworkError> {
    check(network)?;
    let room = match network.source {
        Source::Closed(population) => population,
        Source::Poisson { room, .. } => room,
    };
    let mut state = Loop::new(network, room);
    let mut arrivals = Draws::numbered(network.seed, 0);
    match network.source {
        Source::Closed(population) => (0..population).for_each(|who| state.enter(who)),
        Source::Poisson { .. } => state.agenda.at(Nanos(0), Event::Come),
    }
    let batch = (network.rounds / BATCHES).max(1);
    let (mut done, mut sum, mut events) = (0u64, 0.0f64, 0u64);
    let (mut batch_sum, mut batches) = (0.0f64, Vec::with_capacity(BATCHES as usize + 1));
    let (mut began, mut ended) = (0u64, 0u64);
    while done < network.warm_up + network.rounds {
        let Some((now, event)) = state.agenda.take() else { break };
        events += 1;
        if let Event::Come = event {
            let Source::Poisson { per_s, room } = network.source else { continue };
            let gap = arrivals.exponential() * 1e9 / per_s;
            state.agenda.at(Nanos(now.0 + libm::round(gap) as u64), Event::Come);
            let who = state.idle.pop().ok_or(NetworkError::Overflow { room })?;
            state.enter(who);
            continue;
        }
        let Some(who) = state.step(now, event) else { continue };
        done += 1;
        if done > network.warm_up {
            let time = (now.0 - state.began[who as usize]) as f64;
            sum += time;
            batch_sum += time;
            ended = now.0;
            if (done - network.warm_up).is_multiple_of(batch) {
                batches.push(batch_sum / batch as f64 / 1e9);
                batch_sum = 0.0;
            }
        }
        match network.source {
            Source::Closed(_) => state.enter(who),
            Source::Poisson { .. } => state.leave(who),
        }
        if done == network.warm_up {
            began = now.0;
            state.clear(now);
        }
    }
    let passed_s = (ended.max(began + 1) - began) as f64 / 1e9;
    Ok(state.seen(network.rounds, passed_s, sum / 1e9, batches, events))
}

fn check(network: &Network) -> Result<(), NetworkError> {
    let nothing = |what| Err(NetworkError::Nothing { what });
    let time = |place: usize, what: &'static str, value: f64| match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(NetworkError::NoTime { place, what, value: value.to_string() }),
    };
    if network.places.is_empty() {
        return nothing("places to visit");
    }
    match network.source {
        Source::Closed(0) => return nothing("customers that go round"),
        Source::Closed(_) => {}
        Source::Poisson { room: 0, .. } => return nothing("room for customers"),
        Source::Poisson { per_s, .. } => time(0, "the rate of arrivals", per_s)?,
    }
    for (place, machine) in network.places.iter().enumerate() {
        let service = match machine {
            Place::Servers { count: 0, .. } => return nothing("servers of a place"),
            Place::Sharing { work, .. } if work.len() < 2 => return nothing("work of a place that is shared"),
            Place::Servers { service, .. } | Place::Sharing { service, .. } | Place::Delay { service } => service,
        };
        time(place + 1, "the mean of its time", service.mean_ns)?;
        if !(service.variation.is_finite() && service.variation >= 0.0) {
            let value = service.variation.to_string();
            return Err(NetworkError::NoTime { place: place + 1, what: "the variation of its time", value });
        }
    }
    Ok(())
}

impl Loop {
    fn new(network: &Network, room: u32) -> Loop {
        let machine = |place: &Place| match place {
            Place::Servers { count, .. } => Machine::Servers(Servers::new(*count, room as usize)),
            Place::Sharing { work, .. } => {
                Machine::Sharing(Sharing::new(room as usize, |n| work[(n as usize).min(work.len() - 1)]))
            }
            Place::Delay { .. } => Machine::Delay(0, Watch::default()),
        };
        let time = |place: &Place| match place {
            Place::Servers { service, .. } | Place::Sharing { service, .. } | Place::Delay { service } => *service,
        };
        Loop {
            agenda: Agenda::with_capacity(2 * room as usize + 16),
            machines: network.places.iter().map(machine).collect(),
            times: network.places.iter().map(time).collect(),
            draws: (0..network.places.len()).map(|place| Draws::numbered(network.seed, 1 + place as u64)).collect(),
            began: vec![0; room as usize],
            idle: (0..room).rev().collect(),
            here: Watch::default(),
            inside: 0,
        }
    }

    /// A customer begins his round now.
    #[inline]
    fn enter(&mut self, who: u32) {
        let now = self.agenda.now();
        self.began[who as usize] = now.0;
        self.inside += 1;
        self.here.turn(now, self.inside, 0.0);
        self.visit(now, who, 0);
    }

    fn leave(&mut self, who: u32) {
        self.idle.push(who);
    }

    #[inline]
    fn visit(&mut self, now: Nanos, who: u32, place: u16) {
        let at = usize::from(place);
        let drawn = self.times[at].mean_ns * self.draws[at].varied(self.times[at].variation);
        let service = Nanos(libm::round(drawn) as u64);
        match &mut self.machines[at] {
            Machine::Servers(servers) => {
                if let Some(end) = servers.arrive(now, who, service) {
                    self.agenda.at(end, Event::Done { who, place });
                }
            }
            Machine::Sharing(sharing) => {
                sharing.arrive(now, who, service);
                self.look(place);
            }
            Machine::Delay(here, watch) => {
                *here += 1;
                watch.turn(now, *here, 0.0);
                self.agenda.at(Nanos(now.0 + service.0), Event::Done { who, place });
            }
        }
    }

    #[inline]
    fn look(&mut self, place: u16) {
        let Machine::Sharing(sharing) = &self.machines[usize::from(place)] else { return };
        if let Some((at, state)) = sharing.next() {
            self.agenda.at(at, Event::Shared { place, state });
        }
    }

    /// Moves a customer on; the answer is who has ended his round.
    #[inline]
    fn step(&mut self, now: Nanos, event: Event) -> Option<u32> {
        let (who, place) = match event {
            Event::Come => return None,
            Event::Done { who, place } => (who, place),
            Event::Shared { place, state } => {
                let Machine::Sharing(sharing) = &mut self.machines[usize::from(place)] else { return None };
                let who = sharing.depart(now, state)?;
                self.look(place);
                (who, place)
            }
        };
        match &mut self.machines[usize::from(place)] {
            Machine::Servers(servers) => {
                if let Some((next, end)) = servers.depart(now) {
                    self.agenda.at(end, Event::Done { who: next, place });
                }
            }
            Machine::Delay(here, watch) => {
                *here -= 1;
                watch.turn(now, *here, 0.0);
            }
            Machine::Sharing(_) => {}
        }
        if usize::from(place) + 1 < self.machines.len() {
            self.visit(now, who, place + 1);
            return None;
        }
        self.inside -= 1;
        self.here.turn(now, self.inside, 0.0);
        Some(who)
    }

    fn clear(&mut self, now: Nanos) {
        self.here.clear(now);
        self.machines.iter_mut().for_each(|machine| machine.watch().clear(now));
    }

    fn seen(mut self, rounds: u64, passed_s: f64, sum_s: f64, batches_s: Vec<f64>, events: u64) -> Seen {
        let now = self.agenda.now();
        let (rate, round) = (rounds as f64 / passed_s, sum_s / rounds as f64);
        let place = |machine: &mut Machine| (machine.watch().mean_here(now), machine.watch().utilisation(now));
        let places = self.machines.iter_mut().map(place).collect();
        let little = self.here.mean_here(now) / (rate * round) - 1.0;
        Seen { rate_per_s: rate, round_s: round, places, batches_s, little, events }
    }
}

impl Machine {
    fn watch(&mut self) -> &mut Watch {
        match self {
            Machine::Servers(servers) => servers.watch(),
            Machine::Sharing(sharing) => &mut sharing.watch,
            Machine::Delay(_, watch) => watch,
        }
    }
}
