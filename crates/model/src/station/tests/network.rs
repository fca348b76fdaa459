//! Small networks of stations, simulated: what kernel and stations are proved on.
//!
//! The one idea: customers visit stations in order and begin again (closed) or leave (open); everything that queueing theory
//! says of such networks must come out, within the interval that the simulation states.

/// Where customers pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Alike servers, in order.
    Servers {
        /// How many.
        count: u32,
        /// What a visit asks for.
        service: Time,
    },
    /// Processor sharing: `work[n]` seconds of work are done in a second when `n` are there; the last holds beyond.
    Sharing {
        /// By how many are there, from 0.
        work: Vec<f64>,
        /// What a visit asks for.
        service: Time,
    },
    /// Nobody waits.
    Delay {
        /// How long a visit takes.
        service: Time,
    },
}

/// A time that varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Mean, nanoseconds.
    pub mean_ns: f64,
    /// Coefficient of variation: 0 fixed, 1 exponential.
    pub variation: f64,
}

/// Who comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// So many go round.
    Closed(u32),
    /// They come at random, so many a second, and leave at the end; at most so many at once.
    Poisson {
        /// Arrivals a second.
        per_s: f64,
        /// More than so many there at once is a defect.
        room: u32,
    },
}

/// A network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Who comes.
    pub source: Source,
    /// Where they pass, in order.
    pub places: Vec<Place>,
    /// Seed of all that varies.
    pub seed: u64,
    /// Rounds (or visits of the whole network) that do not count.
    pub warm_up: u64,
    /// Rounds that count.
    pub rounds: u64,
}

/// What a run saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Rounds a second.
    pub rate_per_s: f64,
    /// Mean time of a round, seconds.
    pub round_s: f64,
    /// Of each place: mean number there, and share of it that was busy.
    pub places: Vec<(f64, f64)>,
    /// Times of rounds in order, gathered in batches: means, seconds.
    pub batches_s: Vec<f64>,
    /// Mean number in the network by the clock against rate times time, less one; a run in which this is beyond a
    /// thousandth is a defect.
    pub little: f64,
    /// Events that happened.
    pub events: u64,
}

/// Why a network cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Nothing to visit, nobody to visit it, or no server.
    #[error("{what}: at least one, got none")]
    Nothing {
        /// What is missing.
        what: &'static str,
    },
    /// A time or a rate that is none.
    #[error("place {place}: {what} is a number above zero, got {value}")]
    NoTime {
        /// Which place, from 1; 0 is the source.
        place: usize,
        /// Which number.
        what: &'static str,
        /// What it is.
        value: String,
    },
    /// More came than there is room for: the network cannot carry what is offered.
    #[error("{room} customers are in the network at once and more come: it cannot carry the offered rate")]
    Overflow {
        /// The room.
        room: u32,
    },
}
