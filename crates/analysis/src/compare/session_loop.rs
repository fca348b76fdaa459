//! The loop of a closed load: processors that sessions wait for, a rest that no processor shortens, and users who share the sessions.
//!
//! The one idea: sessions over rate is a session's loop (the response-time law, Denning and Buzen 1978). CPU a transaction says how long it
//! holds a processor, a closed queueing network says how long it waits for one, and what the measured rate leaves is the rest. Then rates
//! follow for any number of sessions or cores. Processors share themselves out among those who are ready, so that only means of the times
//! count, whatever their distribution (Baskett, Chandy, Muntz and Palacios 1975).
//!
//! What it does not do: it knows no locks, and no flushes that commits share. Both are part of the rest, which grows with sessions as it is
//! told ([`Growth`]).

/// How often a search is halved: to less than any digit that is told.
const HALVINGS: u32 = 40;

/// More sessions than this are not looked at: time grows with their square.
pub(super) const SESSIONS_MAX: u32 = 1024;

/// A sum of weights beyond this is brought back to one.
const GREAT: f64 = 1e200;

/// Processors that transactions ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pool {
    /// Seconds of processors for one transaction.
    pub demand_s: f64,
    /// How many processors; a quota may leave less than one.
    pub cores: f64,
}

/// Who asks through the sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Users {
    /// How many.
    pub count: u32,
    /// Seconds between the end of a transaction and the next one of the same user.
    pub think_s: f64,
}

/// How many times as long the rest is with so many sessions, in rising order of sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Growth(Vec<(f64, f64)>);

impl Growth {
    /// What rests that were fitted at several numbers of sessions say, the fewest first. One that is shorter with more sessions is scatter, and
    /// none grows by more than sessions do: with more of them the rate would fall.
    pub fn of(rests: &[(f64, f64)]) -> Growth {
        let Some((_, least)) = rests.first().copied().filter(|(_, rest)| *rest > 0.0) else { return Growth::default() };
        let grown = rests.iter().scan((f64::INFINITY, 1.0f64), |(few, most), (sessions, rest)| {
            *most = (rest / least).clamp(*most, *most * (sessions / *few).max(1.0));
            *few = *sessions;
            Some((*sessions, *most))
        });
        Growth(grown.collect())
    }

    /// The same where only this part grows.
    pub fn of_part(&self, part: f64) -> Growth {
        Growth(self.0.iter().map(|(sessions, times)| (*sessions, 1.0 + (times - 1.0) * part)).collect())
    }

    /// With so many sessions: in proportion between two numbers, and beyond the last as between the last two.
    fn times(&self, sessions: f64) -> f64 {
        along(&self.0, sessions).map_or(1.0, |times| times.max(1.0))
    }
}

/// What is known at several numbers of sessions, at another one; none of a single number.
pub(super) fn along(known: &[(f64, f64)], sessions: f64) -> Option<f64> {
    let pair = known.windows(2).find(|pair| sessions <= pair[1].0).or_else(|| known.windows(2).last())?;
    let ((low, before), (high, after)) = (pair[0], pair[1]);
    Some(before + (after - before) * (sessions - low) / (high - low))
}

/// What goes round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loop {
    /// The processors that a transaction asks for.
    pub pools: Vec<Pool>,
    /// Seconds of a loop that no processor shortens, before it grows.
    pub rest_s: f64,
    pub growth: Growth,
    /// The part of the processors' work that a session waits for; others do the rest meanwhile, on the same processors.
    pub waited: f64,
    /// Those who share the sessions; none where each session has a user of its own.
    pub users: Option<Users>,
}

impl Loop {
    /// This one with the rest with which so many sessions have that rate. Where more work is done than fits into a loop, a part of it is done
    /// beside.
    pub fn fitted(self, sessions: u32, rate: f64) -> Loop {
        let with = |rest_s, waited| Loop { rest_s, waited, ..self.clone() };
        let waited = self.waited;
        if with(0.0, waited).rate(sessions) >= rate {
            let rest_s = halved(0.0, f64::from(sessions) / rate, |rest_s| with(rest_s, waited).rate(sessions) > rate);
            return with(rest_s, waited);
        }
        with(0.0, halved(0.0, waited, |waited| with(0.0, waited).rate(sessions) >= rate))
    }

    /// Transactions a second of so many sessions.
    pub fn rate(&self, sessions: u32) -> f64 {
        let rest_s = (self.rest_s * self.growth.times(sessions.into())).max(f64::MIN_POSITIVE);
        let alone = (0..=sessions).map(|n| f64::from(n) / rest_s).collect();
        let asked = self.pools.iter().filter(|pool| pool.demand_s > 0.0);
        let carried = asked.fold(alone, |others: Vec<f64>, pool| {
            let work = |there: u32| {
                f64::from(there).min(pool.cores * self.waited) / (pool.demand_s * self.waited).max(f64::MIN_POSITIVE)
            };
            (0..=sessions).map(|sessions| settled(sessions, |n| others[n as usize], work)).collect()
        });
        match self.users {
            Some(Users { count, think_s }) if sessions > 0 => {
                settled(count, |n| f64::from(n) / think_s, |there| carried[there.min(sessions) as usize])
            }
            _ => carried[sessions as usize],
        }
    }

    /// With how many sessions, no fewer than `from`, it is that rate, a part of one for a part of what it adds; none where no number is enough.
    pub fn sessions(&self, rate: f64, from: u32) -> Option<f64> {
        if self.pools.is_empty() && self.users.is_none() && self.growth == Growth::default() {
            return Some(rate * self.rest_s);
        }
        let most = self.users.map_or(SESSIONS_MAX, |users| users.count.min(SESSIONS_MAX));
        // What comes closer for ever is never there.
        let carried = self.rate(most) * if self.users.is_some() { 1.0 } else { 1.0 - 1e-4 };
        if carried < rate {
            return None;
        }
        let (mut few, mut enough) = (from.min(most).saturating_sub(1), most);
        while enough - few > 1 {
            let middle = u32::midpoint(few, enough);
            *(if self.rate(middle) >= rate { &mut enough } else { &mut few }) = middle;
        }
        let (below, above) = (self.rate(few), self.rate(enough));
        Some(f64::from(few) + (rate - below) / (above - below))
    }

    /// The same with so many processors in each pool.
    pub fn with_cores(&self, cores: f64) -> Loop {
        let pools = self.pools.iter().map(|pool| Pool { cores, ..*pool }).collect();
        Loop { pools, ..self.clone() }
    }

    /// With how many processors in each pool so many sessions have that rate; none where not even the most are enough.
    pub fn cores(&self, sessions: u32, rate: f64, most: f64) -> Option<f64> {
        let with = |cores: f64| self.with_cores(cores).rate(sessions);
        (with(most) >= rate).then(|| halved(0.0, most, |cores| with(cores) < rate))
    }
}

/// What so many customers send through a station that completes `work(n)` a second with n there, when all else sends it `others(n)` with n
/// outside. Exact where all else is of product form (Chandy, Herzog and Woo: Parametric analysis of queueing networks, 1975).
fn settled(customers: u32, others: impl Fn(u32) -> f64, work: impl Fn(u32) -> f64) -> f64 {
    // The state without anybody has the weight of one. Weights rise to a single peak, so that what is lost of small ones is nothing.
    let (mut weight, mut sum, mut flow) = (1.0, 1.0, 0.0);
    for there in 1..=customers {
        let rate = work(there);
        // Who is nowhere else for any time is here.
        weight *= others(customers - there + 1).min(GREAT.sqrt()) / rate;
        sum += weight;
        flow += weight * rate;
        if sum > GREAT {
            (weight, flow, sum) = (weight / sum, flow / sum, 1.0);
        }
    }
    flow / sum
}

/// Where what holds below holds no more.
fn halved(low: f64, high: f64, below: impl Fn(f64) -> bool) -> f64 {
    let (low, high) = (0..HALVINGS).fold((low, high), |(low, high), _| {
        let middle = f64::midpoint(low, high);
        if below(middle) { (middle, high) } else { (low, middle) }
    });
    f64::midpoint(low, high)
}

#[cfg(test)]
#[path = "tests/session_loop.rs"]
mod tests;
