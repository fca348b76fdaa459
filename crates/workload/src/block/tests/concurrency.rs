//! Every interleaving of small scripts of concurrent writes and reads, against a store that does what storage may do.

use units::Bytes;

use crate::block::{
    Acceptable, Beginning, Damage, DamageKind, DataPool, DataShape, Expectation, Generations, Grid, Reading, SECTOR,
    fill, verify,
};

const SEED: u64 = 4;

/// What one client does, in order. Parts of a write arrive, and parts of a read are looked at, one after the other.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    /// A write that succeeds.
    Write,
    /// A write that fails after its first part arrived.
    FailingWrite,
    /// A write that is acknowledged and never arrives: the damage that must be found.
    LostWrite,
    Read,
}

/// How a module is cut: into parts that arrive one by one.
#[derive(Clone, Copy)]
struct Shape {
    unit: usize,
    part: usize,
}

struct Client {
    script: Script,
    step: usize,
    buffer: Vec<u8>,
    reading: Reading,
}

struct World<'a> {
    shape: Shape,
    bytes: Vec<u8>,
    pool: &'a DataPool,
    map: Generations,
    clients: Vec<Client>,
    verdicts: Vec<Result<(), Damage>>,
}

impl<'a> World<'a> {
    fn new(scripts: &[Script], shape: Shape, pool: &'a DataPool) -> World<'a> {
        let grid = Grid { unit: Bytes(shape.unit as u64), shift: Bytes(0) };
        let bytes = Bytes(shape.unit as u64);
        let map = Generations::new(grid, 1, bytes, 8, 0, Beginning::Filled).unwrap();
        let client = |script: &Script| Client {
            script: *script,
            step: 0,
            buffer: vec![0; shape.unit],
            reading: Reading::new(grid, bytes),
        };
        let clients = scripts.iter().map(client).collect();
        let mut world = World { shape, bytes: vec![0; shape.unit], pool, map, clients, verdicts: vec![] };
        fill(&mut world.bytes, 0, 0, Generations::filled_with(0), pool);
        world
    }

    fn parts(&self) -> usize {
        self.shape.unit / self.shape.part
    }

    /// Whether the client has steps left: a beginning, its parts, an end.
    fn runs(&self, client: usize) -> bool {
        self.clients[client].step < self.parts() + 2
    }

    fn step(&mut self, index: usize) {
        let (parts, length) = (self.parts(), self.shape.unit as u32);
        let client = &mut self.clients[index];
        let step = client.step;
        client.step += 1;
        let reads = client.script == Script::Read;
        let part = step.saturating_sub(1) * self.shape.part..step * self.shape.part;
        if step == 0 && reads {
            self.map.begin_read(0, 0, length, &mut client.reading);
        } else if step == 0 {
            let stamp = |_, _, generation| fill(&mut client.buffer, 0, 0, generation, self.pool);
            self.map.begin_write(0, 0, length, stamp);
        } else if step <= parts && reads {
            client.buffer[part.clone()].copy_from_slice(&self.bytes[part]);
        } else if step <= parts {
            let arrives = client.script == Script::Write || (client.script == Script::FailingWrite && step == 1);
            if arrives {
                self.bytes[part.clone()].copy_from_slice(&client.buffer[part]);
            }
        } else if reads {
            self.map.end_read(&mut client.reading);
            let expectation = Expectation {
                seed: SEED,
                duplicates: self.pool.duplicates(),
                generations: Acceptable::During(&client.reading),
            };
            self.verdicts.push(verify(&client.buffer, 0, 0, &expectation).map(drop));
        } else {
            self.map.end_write(0, 0, length, client.script != Script::FailingWrite);
        }
    }

    /// One more read when nothing is in flight.
    fn read_alone(&mut self) {
        let mut reading = Reading::new(self.map.grid(), Bytes(self.shape.unit as u64));
        self.map.begin_read(0, 0, self.shape.unit as u32, &mut reading);
        self.map.end_read(&mut reading);
        let expectation =
            Expectation { seed: SEED, duplicates: self.pool.duplicates(), generations: Acceptable::During(&reading) };
        self.verdicts.push(verify(&self.bytes, 0, 0, &expectation).map(drop));
    }
}

/// Calls `check` with the order and the world at the end of every interleaving. Orders are replayed from the start: a
/// map of atomics cannot be copied, and the scripts are short.
fn every_interleaving(scripts: &[Script], shape: Shape, mut check: impl FnMut(&[usize], &mut World)) -> usize {
    let pool = DataPool::new(SEED, DataShape::default());
    let steps = shape.unit / shape.part + 2;
    let mut left = vec![steps; scripts.len()];
    let mut order = Vec::new();
    let mut count = 0;
    interleave(&mut left, &mut order, &mut |order| {
        let mut world = World::new(scripts, shape, &pool);
        order.iter().for_each(|client| world.step(*client));
        assert!((0..scripts.len()).all(|client| !world.runs(client)));
        world.read_alone();
        check(order, &mut world);
        count += 1;
    });
    count
}

fn interleave(left: &mut [usize], order: &mut Vec<usize>, done: &mut impl FnMut(&[usize])) {
    if left.iter().all(|left| *left == 0) {
        return done(order);
    }
    for client in 0..left.len() {
        if left[client] > 0 {
            left[client] -= 1;
            order.push(client);
            interleave(left, order, done);
            order.pop();
            left[client] += 1;
        }
    }
}

fn assert_no_alarm(scripts: &[Script], shape: Shape) -> usize {
    every_interleaving(scripts, shape, |order, world| {
        for verdict in &world.verdicts {
            assert!(verdict.is_ok(), "{order:?}: {verdict:?}");
        }
    })
}

const SECTORS: Shape = Shape { unit: 2 * SECTOR, part: SECTOR };
const WHOLE: Shape = Shape { unit: SECTOR, part: SECTOR };
const HALVES: Shape = Shape { unit: SECTOR, part: SECTOR / 2 };

#[test]
fn no_interleaving_of_two_writes_and_a_read_raises_an_alarm() {
    assert_eq!(assert_no_alarm(&[Script::Write, Script::Write, Script::Read], SECTORS), 34_650);
}

#[test]
fn no_interleaving_with_a_failing_write_raises_an_alarm() {
    assert_no_alarm(&[Script::FailingWrite, Script::Write, Script::Read], SECTORS);
}

#[test]
fn no_interleaving_of_three_writes_and_a_read_raises_an_alarm() {
    assert_no_alarm(&[Script::Write, Script::FailingWrite, Script::Write, Script::Read], WHOLE);
}

#[test]
fn no_interleaving_with_storage_that_copies_half_sectors_raises_an_alarm() {
    assert_no_alarm(&[Script::Write, Script::Read, Script::Read], HALVES);
}

/// Where the first step of one client comes after the last of another.
fn after(order: &[usize], later: usize, earlier: usize) -> bool {
    let first = order.iter().position(|client| *client == later);
    let last = order.iter().rposition(|client| *client == earlier);
    first > last
}

#[test]
fn a_lost_write_is_found_by_every_read_after_it_unless_another_write_hides_it() {
    let mut found = 0;
    every_interleaving(&[Script::LostWrite, Script::Write, Script::Read], WHOLE, |order, world| {
        let verdict = &world.verdicts[0];
        if after(order, 0, 1) && after(order, 2, 0) {
            assert_eq!(verdict.unwrap_err().kind, DamageKind::Stale, "{order:?}");
            found += 1;
        }
        // A read that does not follow the lost write may not blame it.
        if !after(order, 2, 0) {
            assert!(verdict.is_ok(), "{order:?}");
        }
    });
    assert_eq!(found, 1);
}

#[test]
fn a_lost_write_that_overlaps_nothing_is_found_whatever_happened_before() {
    let mut lost = 0;
    every_interleaving(&[Script::Write, Script::FailingWrite, Script::LostWrite], SECTORS, |order, world| {
        if after(order, 2, 0) && after(order, 2, 1) {
            assert_eq!(world.verdicts[0].unwrap_err().kind, DamageKind::Stale, "{order:?}");
            lost += 1;
        }
    });
    assert_eq!(lost, 70);
}
