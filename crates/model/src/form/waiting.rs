//! Servers that many share: how much longer work takes when others are there.

/// By how much work takes longer on `cores` cores of which `busy` are asked for on the mean, at random (Erlang's delay
/// formula, with cores that are no whole number between the whole ones around). Above 98 percent it is held there: a
/// closed system does not get further.
pub fn shared(busy: f64, cores: f64) -> f64 {
    let cores = cores.max(1e-6);
    let busy = busy.min(0.98 * cores);
    let (below, above) = (libm::floor(cores).max(1.0), libm::ceil(cores).max(1.0));
    let at = |whole: f64| 1.0 + waits(busy * whole / cores, whole) / (whole * (1.0 - busy / cores));
    if above == below { at(below) } else { at(below) + (cores - below) * (at(above) - at(below)) }
}

/// The probability of waiting with `servers` servers and `busy` of them asked for on the mean (Erlang C, by the recursion of
/// Erlang B).
pub fn waits(busy: f64, servers: f64) -> f64 {
    let mut blocked = 1.0;
    let mut count = 1.0;
    while count <= servers {
        blocked = busy * blocked / (count + busy * blocked);
        count += 1.0;
    }
    let share = busy / servers;
    blocked / (1.0 - share * (1.0 - blocked))
}

/// The rate at which very many customers, each `outside_s` away between two visits, go round over `cores` servers with
/// `demand_s` each: where the response at the rate and the rate at the response agree.
pub fn balance(population: f64, outside_s: f64, demand_s: f64, cores: f64) -> f64 {
    let (mut low, mut high) = (0.0, cores / demand_s);
    for _ in 0..80 {
        let rate = 0.5 * (low + high);
        let response_s = demand_s * shared_freely(rate * demand_s, cores);
        if rate * (outside_s + response_s) > population { high = rate } else { low = rate }
    }
    0.5 * (low + high)
}

/// As [`shared`], without the bound: close to all cores it grows beyond every limit, which is what ends the search.
fn shared_freely(busy: f64, cores: f64) -> f64 {
    let whole = libm::ceil(cores).max(1.0);
    let share = busy / cores;
    if share >= 1.0 { f64::INFINITY } else { 1.0 + waits(share * whole, whole) / (whole * (1.0 - share)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_that_of_the_tables() {
        // M/M/1 at 0.8 takes five times as long; Erlang C of 2 servers with 1 asked for is a third.
        assert!((shared(0.8, 1.0) - 5.0).abs() < 1e-9);
        assert!((waits(1.0, 2.0) - 1.0 / 3.0).abs() < 1e-12);
        assert!((waits(8.0, 10.0) - 0.409_180).abs() < 1e-5);
    }

    #[test]
    fn many_customers_settle_where_littles_law_holds() {
        let rate = balance(32_000.0, 49.0, 0.0014, 2.0);
        let response = 0.0014 * shared(rate * 0.0014, 2.0);
        assert!((rate * (49.0 + response) / 32_000.0 - 1.0).abs() < 1e-6);
    }
}
