//! Closed queueing networks, exactly: a fixed number of customers go round between stations and a delay.
//!
//! The one idea: one station whose rate depends on how many are there, with a delay, is a birth-death process; its states
//! are weighed in logarithms, so that a thousand customers neither overflow nor lose digits, which the textbook recursion
//! for load-dependent stations does near saturation. Stations of one fixed rate go by mean value analysis (Reiser and
//! Lavenberg 1980), which is stable.

/// What a closed network settles at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Customers that go round, a second.
    pub rate_per_s: f64,
    /// Mean number of customers at the stations.
    pub at_stations: f64,
    /// Share of the time in which no customer is at the station (of one station), or the utilisation's complement of the
    /// busiest one.
    pub idle: f64,
}

impl Settled {
    /// Mean time at the stations, seconds, by Little's law.
    pub fn response_s(&self) -> f64 {
        self.at_stations / self.rate_per_s
    }
}

/// `population` customers between a delay of `delay_s` seconds and one station that completes `rate(n)` customers a second
/// when `n` are there (n from 1; above zero).
pub fn one_station(population: u32, delay_s: f64, rate: impl Fn(u32) -> f64) -> Settled {
    if delay_s <= 0.0 {
        return Settled { rate_per_s: rate(population.max(1)), at_stations: f64::from(population), idle: 0.0 };
    }
    beside(population, |count| f64::from(count) / delay_s, rate)
}

/// `population` customers between one station and all else, which sends `others(n)` of them to it a second when it has `n`: a
/// delay, or a network that settles by itself with so many, which is exact where both are of product form (Chandy, Herzog, Woo:
/// Parametric analysis of queueing networks, 1975).
pub fn beside(population: u32, others: impl Fn(u32) -> f64, rate: impl Fn(u32) -> f64) -> Settled {
    // Weights of the states relative to the greatest so far; old ones are scaled down when a greater one appears.
    let (mut log, mut greatest) = (0.0f64, 0.0f64);
    let (mut sum, mut customers, mut flow) = (1.0f64, 0.0f64, 0.0f64);
    let mut empty = 1.0f64;
    for n in 1..=population {
        let (arrivals, departures) = (others(population - n + 1), rate(n));
        log += libm::log(arrivals / departures);
        if log > greatest {
            let scale = libm::exp(greatest - log);
            sum *= scale;
            customers *= scale;
            flow *= scale;
            empty *= scale;
            greatest = log;
        }
        let weight = libm::exp(log - greatest);
        sum += weight;
        customers += weight * f64::from(n);
        flow += weight * departures;
    }
    Settled { rate_per_s: flow / sum, at_stations: customers / sum, idle: empty / sum }
}

/// A population that is no whole number: a part of a customer is that part of the difference between two.
pub fn between(population: f64, settles: impl Fn(u32) -> Settled) -> Settled {
    let whole = libm::floor(population);
    let (part, few) = (population - whole, settles(whole as u32));
    if part <= 0.0 {
        return few;
    }
    let more = settles(whole as u32 + 1);
    let mix = |few: f64, more: f64| few + part * (more - few);
    Settled {
        rate_per_s: mix(few.rate_per_s, more.rate_per_s),
        at_stations: mix(few.at_stations, more.at_stations),
        idle: mix(few.idle, more.idle),
    }
}

/// Some alike stations that customers ask in turn or at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    count: f64,
    servers: f64,
    work_s: f64,
    latency_s: f64,
}

impl Part {
    /// `count` stations of `servers` each, that a customer asks for `work_s` seconds in sum over all of them. He is there for
    /// `latency_s` when nobody else is, which is less when they work for him side by side.
    pub fn of(count: f64, servers: f64, work_s: f64, latency_s: f64) -> Part {
        Part { count, servers, work_s, latency_s }
    }

    /// What one of so many alike groups of customers has of it.
    pub fn among(self, groups: f64) -> Part {
        Part { count: self.count / groups, ..self }
    }
}

/// `population` customers between a delay and such stations, by mean value analysis. Of several servers one is so much
/// faster, and the rest of the time is a delay (Seidmann, Schweitzer, Shalev-Oren: Computerized closed queueing network models
/// of flexible manufacturing systems, 1987), which is exact for one customer and for very many.
pub fn parts(population: u32, delay_s: f64, parts: &[Part]) -> Settled {
    let mut queues = vec![0.0f64; parts.len()];
    let busiest = parts.iter().fold(0.0f64, |most, part| most.max(part.work_s / (part.count * part.servers)));
    let mut rate = 0.0;
    for n in 1..=population {
        let time = |(part, queue): (&Part, &f64)| part.latency_s * (1.0 + queue / part.servers);
        rate = f64::from(n) / (delay_s + parts.iter().zip(&queues).map(time).sum::<f64>());
        for (part, queue) in parts.iter().zip(&mut queues) {
            *queue = rate * part.work_s / (part.count * part.servers) * (1.0 + *queue);
        }
        if rate * busiest > 0.999_99 {
            break;
        }
    }
    let rate = rate.min(1.0 / busiest);
    Settled {
        rate_per_s: rate,
        at_stations: f64::from(population) - rate * delay_s,
        idle: (1.0 - rate * busiest).max(0.0),
    }
}

/// The same for groups of alike single servers: how many, and seconds a round at each of them.
pub fn groups(population: u32, delay_s: f64, groups: &[(u32, f64)]) -> Settled {
    groups_up_to(population, delay_s, groups, |_| {})
}

/// The same; `seen` is told what goes round a second with each number of customers from one on.
pub fn groups_up_to(population: u32, delay_s: f64, groups: &[(u32, f64)], mut seen: impl FnMut(f64)) -> Settled {
    let mut queues = vec![0.0f64; groups.len()];
    let mut rate = 0.0f64;
    for n in 1..=population {
        let times = groups.iter().zip(&queues).map(|((_, demand), queue)| demand * (1.0 + queue));
        let around: f64 = times.clone().zip(groups).map(|(time, (count, _))| f64::from(*count) * time).sum();
        rate = f64::from(n) / (around + delay_s);
        let found: Vec<f64> = times.map(|time| rate * time).collect();
        queues.copy_from_slice(&found);
        seen(rate);
    }
    let busiest = groups.iter().fold(0.0f64, |most, (_, demand)| most.max(demand * rate));
    let at_stations = groups.iter().zip(&queues).map(|((count, _), queue)| f64::from(*count) * queue).sum();
    Settled { rate_per_s: rate, at_stations, idle: (1.0 - busiest).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `population` customers between a delay and single servers with the given demands, seconds a round. Exact for exponential
    /// service in order, or processor sharing of any service.
    fn single_servers(population: u32, delay_s: f64, demands_s: &[f64]) -> Settled {
        let mut queues = vec![0.0f64; demands_s.len()];
        let mut rate = 0.0;
        for n in 1..=population {
            let times = demands_s.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue));
            let around: f64 = times.clone().sum::<f64>() + delay_s;
            rate = f64::from(n) / around;
            let found: Vec<f64> = times.map(|time| rate * time).collect();
            queues.copy_from_slice(&found);
        }
        let busiest = demands_s.iter().fold(0.0f64, |most, demand| most.max(demand * rate));
        Settled { rate_per_s: rate, at_stations: queues.iter().sum(), idle: (1.0 - busiest).max(0.0) }
    }

    /// The machine repairman by the textbook sum, for populations that it can carry.
    fn repairman(population: u32, servers: u32, delay: f64, service: f64) -> f64 {
        let mut weights = vec![1.0f64];
        for n in 1..=population {
            let up = f64::from(population - n + 1) / delay;
            let down = f64::from(n.min(servers)) / service;
            weights.push(weights[n as usize - 1] * up / down);
        }
        let sum: f64 = weights.iter().sum();
        (1..=population).map(|n| weights[n as usize] / sum * f64::from(n.min(servers)) / service).sum()
    }

    #[test]
    fn one_station_is_the_machine_repairman() {
        for (population, servers) in [(1, 1), (5, 1), (20, 3), (40, 8)] {
            let found = one_station(population, 0.01, |n| f64::from(n.min(servers)) / 0.004);
            let exact = repairman(population, servers, 0.01, 0.004);
            assert!((found.rate_per_s / exact - 1.0).abs() < 1e-12, "{population} over {servers}");
            let around = found.rate_per_s * (found.response_s() + 0.01);
            assert!((around / f64::from(population) - 1.0).abs() < 1e-12, "Little's law");
        }
    }

    #[test]
    fn a_hundred_thousand_customers_neither_overflow_nor_lose_the_limit() {
        let found = one_station(100_000, 30.0, |n| f64::from(n.min(8)) / 0.004);
        assert!((found.rate_per_s - 2_000.0).abs() < 1e-6, "{found:?}");
        assert!((found.response_s() - 20.0).abs() < 1e-6);
    }

    #[test]
    fn mean_value_analysis_agrees_with_one_station() {
        let (one, other) = (single_servers(12, 0.02, &[0.003]), one_station(12, 0.02, |_| 1.0 / 0.003));
        assert!((one.rate_per_s / other.rate_per_s - 1.0).abs() < 1e-12);
        assert!((one.idle - other.idle).abs() < 1e-12);
    }

    #[test]
    fn alike_servers_are_single_servers_of_equal_demand() {
        let (few, many) = (single_servers(30, 0.005, &[0.001; 7]), groups(30, 0.005, &[(7, 0.001)]));
        assert!((few.rate_per_s / many.rate_per_s - 1.0).abs() < 1e-12);
        assert!((few.at_stations / many.at_stations - 1.0).abs() < 1e-12);
    }

    #[test]
    fn parts_of_one_server_are_alike_servers_and_several_servers_are_right_at_both_ends() {
        for population in [1, 5, 40] {
            let exact = groups(population, 0.005, &[(7, 0.001)]);
            let found = parts(population, 0.005, &[Part::of(7.0, 1.0, 0.007, 0.007)]);
            assert!((found.rate_per_s / exact.rate_per_s - 1.0).abs() < 1e-9, "{population}");
        }
        let desks = |population| parts(population, 0.01, &[Part::of(1.0, 8.0, 0.004, 0.004)]).rate_per_s;
        assert!((desks(1) - 1.0 / 0.014).abs() < 1e-9 && (desks(10_000) / 2_000.0 - 1.0).abs() < 1e-4);
        let exact = one_station(20, 0.01, |n| f64::from(n.min(8)) / 0.004).rate_per_s;
        assert!((desks(20) / exact - 1.0).abs() < 0.1, "and off between them: {} and {exact}", desks(20));
    }

    #[test]
    fn one_station_beside_a_network_is_the_network_of_both() {
        let mut others = vec![0.0];
        groups_up_to(30, 0.005, &[(7, 0.001), (2, 0.0002)], |rate| others.push(rate));
        let found = beside(30, |n| others[n as usize], |_| 1.0 / 0.0009);
        let exact = groups(30, 0.005, &[(7, 0.001), (2, 0.0002), (1, 0.0009)]);
        assert!((found.rate_per_s / exact.rate_per_s - 1.0).abs() < 1e-12, "{found:?} {exact:?}");
    }

    #[test]
    fn without_a_delay_all_customers_are_at_the_station() {
        assert_eq!(one_station(9, 0.0, f64::from).rate_per_s, 9.0);
    }
}
