//! What is still to happen, in the order of time.
//!
//! The one idea: an agenda is a heap with four children a node over (time, number) keys, so that events of one moment come
//! out in the order in which they went in, on every machine. Four children make the heap half as deep as two and keep a
//! node's children in one cache line.
//!
//! What it does not do: it does not know what an event means.

use units::Nanos;

/// Events that are still to happen. Nothing is allocated as long as no more events wait than were reserved.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    heap: Vec<Entry<E>>,
    now: u64,
    number: u64,
    happened: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: u64,
    number: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Time and number as one number, for one comparison without a branch.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at) << 64) | u128::from(self.number)
    }

    #[inline]
    fn before(&self, other: &Entry<E>) -> bool {
        self.key() < other.key()
    }
}

impl<E: Copy> Agenda<E> {
    /// An agenda at time zero with room for so many waiting events.
    pub fn with_capacity(events: usize) -> Agenda<E> {
        Agenda { heap: Vec::with_capacity(events), now: 0, number: 0, happened: 0 }
    }

    /// The time of the last event that was taken out.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Lets time pass to `to` without an event; never backwards, and never beyond the first event.
    #[inline]
    pub fn pass(&mut self, to: Nanos) {
        let first = self.heap.first().map_or(u64::MAX, |entry| entry.at);
        self.now = self.now.max(to.0.min(first));
    }

    /// Lets something happen that stood on no agenda, before the first event.
    #[inline]
    pub fn happen(&mut self, at: Nanos) {
        self.happened += 1;
        self.pass(at);
    }

    /// How much has happened: events that were taken out, and what stood on no agenda.
    pub fn happened(&self) -> u64 {
        self.happened
    }

    /// Adds an event. One that lies in the past happens now.
    #[inline]
    pub fn at(&mut self, when: Nanos, event: E) {
        let entry = Entry { at: when.0.max(self.now), number: self.number, event };
        self.number += 1;
        self.heap.push(entry);
        self.rise(self.heap.len() - 1);
    }

    /// When the first event happens.
    #[inline]
    pub fn first(&self) -> Option<Nanos> {
        self.heap.first().map(|entry| Nanos(entry.at))
    }

    /// Takes the first event out and moves time to it.
    #[inline]
    pub fn take(&mut self) -> Option<(Nanos, E)> {
        let last = self.heap.pop()?;
        let first = self.heap.first_mut().map_or(last, |top| std::mem::replace(top, last));
        self.sink();
        self.now = first.at;
        self.happened += 1;
        Some((Nanos(first.at), first.event))
    }

    /// Strikes out all events but those that `stays` keeps, which keep their order. It looks at all of them.
    pub fn keep(&mut self, stays: impl Fn(&E) -> bool) {
        self.heap.retain(|entry| stays(&entry.event));
        // What is sorted is a heap.
        self.heap.sort_unstable_by_key(|entry| (entry.at, entry.number));
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// For how many it has room.
    pub fn capacity(&self) -> usize {
        self.heap.capacity()
    }

    /// Whether nothing will ever happen again.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    #[inline]
    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 4;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = entry;
    }

    /// Brings the first entry to its place. It came from the end and mostly goes back there, so that the way is taken down to
    /// the end by the least child and then up again, which asks less than comparing with it on every level.
    #[inline]
    fn sink(&mut self) {
        let Some(&entry) = self.heap.first() else { return };
        let mut place = 0;
        loop {
            let from = 4 * place + 1;
            let least = match self.heap.get(from..from + 4) {
                Some([a, b, c, d]) => {
                    let (ab, cd) = (usize::from(b.before(a)), usize::from(d.before(c)));
                    let (one, other) = (if ab == 1 { b } else { a }, if cd == 1 { d } else { c });
                    from + if other.before(one) { 2 + cd } else { ab }
                }
                _ => {
                    match (from..self.heap.len()).reduce(|a, b| if self.heap[b].before(&self.heap[a]) { b } else { a })
                    {
                        Some(least) => least,
                        None => break,
                    }
                }
            };
            self.heap[place] = self.heap[least];
            place = least;
        }
        self.heap[place] = entry;
        self.rise(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_in_the_order_of_time_and_of_insertion_within_a_moment() {
        let mut agenda = Agenda::with_capacity(8);
        for (when, event) in [(30, 'c'), (10, 'a'), (30, 'd'), (20, 'b'), (30, 'e')] {
            agenda.at(Nanos(when), event);
        }
        let order: String = std::iter::from_fn(|| agenda.take()).map(|(_, event)| event).collect();
        assert_eq!(order, "abcde");
        assert_eq!(agenda.now(), Nanos(30));
    }

    #[test]
    fn many_events_come_out_sorted() {
        let mut agenda = Agenda::with_capacity(1_000);
        let mut state = 1u64;
        let mut expected = Vec::new();
        for number in 0..1_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            agenda.at(Nanos(state >> 57), number);
            expected.push((state >> 57, number));
        }
        expected.sort_unstable();
        let seen: Vec<(u64, u64)> = std::iter::from_fn(|| agenda.take()).map(|(at, event)| (at.0, event)).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_is_struck_out_never_happens_and_the_rest_keeps_its_order() {
        let mut agenda = Agenda::with_capacity(64);
        (0..60u64).for_each(|number| agenda.at(Nanos(number * 37 % 11), number));
        agenda.keep(|number| number % 3 == 0);
        agenda.at(Nanos(4), 60);
        let seen: Vec<(u64, u64)> = std::iter::from_fn(|| agenda.take()).map(|(at, number)| (at.0, number)).collect();
        assert!(seen.is_sorted_by_key(|(at, number)| (*at, *number)), "{seen:?}");
        assert_eq!(seen.len(), 21);
    }

    #[test]
    fn time_never_runs_backwards() {
        let mut agenda = Agenda::with_capacity(2);
        agenda.at(Nanos(50), 1);
        agenda.pass(Nanos(80));
        assert_eq!(agenda.now(), Nanos(50), "time stops at the first event");
        agenda.take();
        agenda.at(Nanos(5), 2);
        assert_eq!(agenda.take(), Some((Nanos(50), 2)), "what lies in the past happens now");
    }
}
