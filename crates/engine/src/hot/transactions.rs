//! Transactions as the work of a lane: the port draws and steps them, and says what became of each.

use crate::hot::lane::{Key, Limit, Settled, Work};
use crate::hot::noticed::Noticed;
use load::{Arrival, Load, Unissued};
use observation::{ClassKind, StreamLabel};
use recorder::Outcome;
use system::{Completion, Outcome as Ended, TransactionPort};
use units::Nanos;
use workload::transaction::{Begun, Caused};

/// Classes of a stream that count something beside its transactions.
#[derive(Clone, Default)]
pub(crate) struct Beside {
    /// How old the data was that they saw.
    age: Option<u16>,
    /// What those of each class gave.
    given: Vec<Option<u16>>,
    /// Those that miss a limit.
    limit: Option<Limit>,
}

impl Beside {
    /// Those of a stream, by its label, with a limit of latency where it has one.
    pub(crate) fn of(label: &StreamLabel, limit: Nanos) -> Beside {
        let mut given = vec![None; label.classes.len()];
        for gives in &label.gives {
            let counted = label.counted(&gives.what);
            given.get_mut(usize::from(gives.class)).into_iter().for_each(|given| *given = counted);
        }
        let work = label.classes.iter().map(|(_, kind)| *kind == ClassKind::Work).collect();
        let skipped = label.class_of(ClassKind::Skipped);
        let limit = label.class_of(ClassKind::Late).map(|late| Limit { of: limit, late, skipped, work });
        Beside { age: label.class_of(ClassKind::Age), given, limit }
    }
}

/// The transactions of one worker.
#[derive(Default)]
pub(crate) struct TransactionWork {
    /// What one that ends well counts as: the bytes of the rows of a batch job, else none.
    bytes: u32,
    /// What those that ended have caused, on its way into the load.
    caused: Vec<Caused>,
    /// How old the data was that those that ended saw, on its way to the recorder.
    ages: Vec<Nanos>,
    beside: Beside,
    noticed: Noticed,
}

impl TransactionWork {
    /// Each that ends well counts as so many bytes.
    pub(crate) fn new(bytes: u32, beside: Beside) -> TransactionWork {
        TransactionWork { bytes, beside, ..TransactionWork::default() }
    }
}

impl<P: TransactionPort> Work<P> for TransactionWork {
    #[inline]
    fn stage(&mut self, port: &mut P, first: u32, arrival: &Arrival) -> Key {
        let slot = first + arrival.slot;
        let class = port.class(slot, arrival.n, arrival.payload);
        port.begin(slot, Begun { n: arrival.n, payload: arrival.payload, at: arrival.intended });
        Key { class, endpoint: 0 }
    }

    #[inline]
    fn settle<L: Load>(&mut self, port: &mut P, _first: u32, completion: &Completion, load: &mut L) -> Settled {
        port.caused(completion.slot, &mut self.caused);
        port.ages(&mut self.ages);
        for caused in self.caused.drain(..) {
            // A load without room forgets it: the order stays open, as one that the market never answers.
            let _ = load.spawn(caused.due, caused.payload);
        }
        let (outcome, gone) = match completion.outcome {
            Ended::Transacted { retried, rolled_back } => {
                self.noticed.success();
                (Outcome::Done { bytes: self.bytes.into(), retried, rolled_back }, None)
            }
            Ended::Moved { .. } => (Outcome::Failed, self.failed(port, completion, libc::EIO)),
            // Nothing failed: the run was stopped, and the transaction ends unfinished like all others that are out.
            Ended::Failed { errno: libc::ECANCELED } => (Outcome::Censored, Some(libc::ECANCELED)),
            Ended::Failed { errno } => (Outcome::Failed, self.failed(port, completion, errno)),
        };
        // The slot is held to the end, the response is that of the system.
        Settled { outcome, answered: completion.at - port.outside(completion.slot), held: false, gone }
    }

    #[inline]
    fn due(&mut self, port: &mut P, slot: u32) -> Option<Nanos> {
        port.due(slot)
    }

    #[inline]
    fn seen(&mut self) -> Option<(u16, Nanos)> {
        Some((self.beside.age?, self.ages.pop()?))
    }

    #[inline]
    fn gave(&mut self, port: &mut P, slot: u32, class: u16) -> Option<(u16, u64)> {
        let counted = (*self.beside.given.get(usize::from(class))?)?;
        Some((counted, port.gave(slot)))
    }

    #[inline]
    fn limit(&self) -> Option<&Limit> {
        self.beside.limit.as_ref()
    }

    fn never(&mut self, port: &mut P, first: u32, never: &Unissued) -> Key {
        Key { class: port.class(first, never.n, never.payload), endpoint: 0 }
    }

    fn noticed(&mut self) -> &mut Noticed {
        &mut self.noticed
    }

    fn into_noticed(self) -> Noticed {
        self.noticed
    }
}

impl TransactionWork {
    #[cold]
    fn failed<P: TransactionPort>(&mut self, port: &mut P, completion: &Completion, errno: i32) -> Option<i32> {
        let words = port.complaint(completion.slot);
        let words = || words.unwrap_or_else(|| format!("a transaction: {}", std::io::Error::from_raw_os_error(errno)));
        // A server that refuses a statement is there, however often it does.
        self.noticed.failure(completion.at, errno, words).filter(|errno| *errno != libc::EPROTO)
    }
}
