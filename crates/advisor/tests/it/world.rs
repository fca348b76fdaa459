//! Eight objects on a disk and a flash device: what any placement of them takes, simulated, and what the advice says of them.
//!
//! The one idea: all placements carry the same list of requests, so that two of them differ by their placement alone. The models are
//! those that are emulated, so that a benchmark can carry out the same list on mounts.

use advisor::{Advice, Counts, Described, Kind, Look, Tiers, Times};
use model::Setting;
use model::machine::{Ended, Machine};
use random::Draws;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use units::Nanos;
use workload::{Operation, OperationKind};

/// Requests that are outstanding, over all objects.
pub const SLOTS: u32 = 4;

/// The slow tier and the fast one.
pub const MODELS: [&str; 2] = ["disk-15k", "nand-device"];

const MIB: u64 = 1 << 20;
const BLOCK: u64 = advisor::BLOCK as u64;

/// An object: its name, its size in MiB, how many of a hundred requests go to it, and the blocks of a request.
pub struct Data {
    pub name: &'static str,
    pub mib: u64,
    share: f64,
    blocks: u64,
}

const fn data(name: &'static str, mib: u64, share: f64, blocks: u64) -> Data {
    Data { name, mib, share, blocks }
}

/// Heat that is skewed, and not by size alone: a table that is scanned has many blocks and little wait for each.
pub const OBJECTS: [Data; 8] = [
    data("posting_pkey", 6, 24.0, 1),
    data("posting", 34, 26.0, 1),
    data("account_pkey", 10, 11.0, 1),
    data("account", 28, 14.0, 1),
    data("statement", 44, 9.0, 16),
    data("customer", 22, 6.0, 1),
    data("item", 70, 7.0, 1),
    data("archive", 42, 3.0, 16),
];

/// A placement: the objects whose bits are set lie on the fast tier.
pub type Placement = u32;

/// All of them.
pub const PLACEMENTS: std::ops::Range<Placement> = 0..1 << OBJECTS.len();

/// Whether an object is on the fast tier.
pub fn is_fast(placement: Placement, object: usize) -> bool {
    placement >> object & 1 == 1
}

/// MiB on the fast tier.
pub fn fast_mib(placement: Placement) -> u64 {
    OBJECTS.iter().enumerate().filter(|(at, _)| is_fast(placement, *at)).map(|(_, object)| object.mib).sum()
}

/// A read of an object.
#[derive(Clone, Copy)]
pub struct Request {
    pub object: usize,
    /// From the beginning of the object on.
    pub offset: u64,
    pub bytes: u64,
}

/// So many requests, as the shares say: at random places, and of scans what comes next.
pub fn requests(count: usize, seed: u64) -> Vec<Request> {
    let mut draws = Draws::numbered(seed, 0);
    let mut next = [0; OBJECTS.len()];
    let all: f64 = OBJECTS.iter().map(|object| object.share).sum();
    let request = |_| {
        let mut left = all * draws.fraction();
        let object = OBJECTS.iter().position(|object| {
            left -= object.share;
            left < 0.0
        });
        let object = object.unwrap_or(OBJECTS.len() - 1);
        let Data { mib, blocks, .. } = OBJECTS[object];
        let places = mib * MIB / (blocks * BLOCK);
        let place = if blocks == 1 { draws.below(places) } else { next[object] };
        next[object] = (next[object] + 1) % places;
        Request { object, offset: place * blocks * BLOCK, bytes: blocks * BLOCK }
    };
    (0..count).map(request).collect()
}

fn machine(name: &str) -> Box<dyn Machine> {
    let shipped = model::models().iter().find(|shipped| shipped.name == name).expect("it ships");
    let model = model::file::read(name, shipped.text).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
    let module_bytes = model::module_bytes(&model).unwrap_or(1 << 40);
    let setting = Setting { modules: 1, slots: SLOTS, seed: 1, module_bytes, ..Setting::default() };
    model::machine(&model, &setting).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Seconds that a placement takes for all requests, with [`SLOTS`] of them outstanding.
pub fn simulated_s(placement: Placement, requests: &[Request]) -> f64 {
    let begins = |object: usize| OBJECTS[..object].iter().map(|object| object.mib * MIB).sum::<u64>();
    let mut tiers = MODELS.map(machine);
    let mut left = requests.iter();
    let mut submit = |tiers: &mut [Box<dyn Machine>; 2], at: Nanos, slot: u32| {
        let Some(Request { object, offset, bytes }) = left.next().copied() else { return false };
        let (offset, bytes) = (begins(object) + offset, bytes as u32);
        let operation = Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes };
        tiers[usize::from(is_fast(placement, object))].submit(at, slot, &operation);
        true
    };
    let mut going = (0..SLOTS).filter(|slot| submit(&mut tiers, Nanos(0), *slot)).count();
    let (mut now, mut ended) = (Nanos(0), Vec::<Ended>::new());
    while going > 0 {
        now = tiers.iter_mut().filter_map(|tier| tier.next()).min().expect("somebody is under way");
        tiers.iter_mut().for_each(|tier| {
            tier.advance(now, &mut ended);
        });
        for one in ended.drain(..) {
            going -= usize::from(!submit(&mut tiers, now, one.slot));
        }
    }
    now.seconds()
}

/// Mean seconds of a read on one tier, as a measurement of that device alone finds them with as many outstanding: at random, and of
/// scans for each block.
fn times(tier: usize) -> Times {
    let placement = if tier == 0 { 0 } else { PLACEMENTS.end - 1 };
    let only = |scans: bool| {
        let own = requests(4_000, 5).into_iter().filter(|request| (request.bytes > BLOCK) == scans);
        let own: Vec<Request> = own.collect();
        let blocks: u64 = own.iter().map(|request| request.bytes / BLOCK).sum();
        simulated_s(placement, &own) * f64::from(SLOTS) / blocks as f64
    };
    let read_s = only(false);
    let in_order_s = only(true);
    Times { read_s, in_order_s, flush_s: read_s, copied_s: in_order_s }
}

/// The advice for a window of these requests with everything on the slow tier.
pub fn advice(requests: &[Request], budget_mib: Option<u64>) -> Advice {
    let described = OBJECTS.iter().map(|object| Described {
        id: object.name.to_owned(),
        kind: Kind::File,
        name: object.name.to_owned(),
        bytes: (object.mib * MIB) as f64,
        table: None,
        rows_per_block: 1.0,
        fast: false,
        place: "slow".to_owned(),
        logged: true,

        held: false,
        stays: String::new(),
    });
    let described: Vec<Described> = described.collect();
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    let mut looks = vec![Look::default()];
    for (at, slice) in requests.chunks(requests.len().div_ceil(10)).enumerate() {
        for request in slice {
            let counted = counts.entry(OBJECTS[request.object].name.to_owned()).or_default();
            let blocks = (request.bytes / BLOCK) as f64;
            counted.reads += blocks;
            *(if blocks > 1.0 { &mut counted.rows_in_order } else { &mut counted.rows_by_key }) += blocks;
        }
        looks.push(Look { at_s: (at + 1) as f64, counts: counts.clone(), ..Look::default() });
    }
    static TIERS: OnceLock<Tiers> = OnceLock::new();
    let tiers = TIERS.get_or_init(|| Tiers { slow: times(0), fast: times(1) });
    let budget = budget_mib.map(|mib| (mib * MIB) as f64);
    advisor::advise(advisor::observed(&described, &looks), &looks, tiers, budget, 1)
}

/// The placements that follow the order of the advice, from nothing to everything.
pub fn prefixes(advice: &Advice) -> Vec<Placement> {
    let mut fast = 0;
    let points = advice.curve.points.iter().map(|point| {
        fast |= point.piece.map_or(0, |piece| 1 << advice.pieces[piece].objects[0]);
        fast
    });
    points.collect()
}

/// The shares of the time of the first figure that the others save.
pub fn gains(seconds: &[f64]) -> Vec<f64> {
    seconds.iter().map(|one| 1.0 - one / seconds[0]).collect()
}
