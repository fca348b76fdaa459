//! The mapping: rows of stripe units over the members of a group.
//!
//! The one idea: within a row, members are bits. What is touched, what is parity and what is lost are masks, and the cost of
//! an I/O is how many bits its reads and its writes have. Of the ways to keep parity right, the one with the fewest reads
//! is taken.
//!
//! What it does not do: it holds no data and knows no time.

/// A RAID level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Stripes without any redundancy.
    Raid0 = 0,
    /// All members hold the same.
    Raid1 = 1,
    /// Stripes with one parity, which rotates.
    Raid5 = 5,
    /// Stripes with two parities, which rotate.
    Raid6 = 6,
    /// Stripes over mirrored pairs.
    Raid10 = 10,
}

impl Level {
    /// The level of a number such as 5 or 10.
    pub fn of(number: u32) -> Option<Level> {
        let all = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10];
        all.into_iter().find(|level| level.number() == number)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The fewest members that make sense.
    pub fn least(self) -> u32 {
        match self {
            Level::Raid0 | Level::Raid1 => 2,
            Level::Raid5 => 3,
            Level::Raid6 | Level::Raid10 => 4,
        }
    }

    /// Parity units in a row.
    fn parities(self) -> u32 {
        match self {
            Level::Raid5 => 1,
            Level::Raid6 => 2,
            _ => 0,
        }
    }
}

/// A group that nobody can build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum RaidError {
    /// Too few or too many members.
    #[error("RAID {} has {} to 64 modules in a group, got {members}", level.number(), level.least())]
    Members { level: Level, members: u32 },
    /// Pairs of an odd number.
    #[error("RAID 10 pairs its modules and needs an even number of them, got {0}")]
    Odd(u32),
    /// A unit that is no power of two.
    #[error("a stripe unit is a power of two bytes, at least 512, got {0}")]
    Unit(u32),
}

/// A group of modules under a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raid {
    level: Level,
    members: u32,
    shift: u32,
    columns: Divisor,
    rotation: Divisor,
}

/// What one I/O asks of the members in one row: first the reads, then the writes, each of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Members that read, as bits.
    pub reads: u64,
    /// Members that write when all reads are done.
    pub writes: u64,
    /// Bytes of each.
    pub bytes: u32,
}

impl Raid {
    /// A group of so many modules with stripe units of so many bytes.
    ///
    /// # Errors
    /// When the level cannot be built of them.
    pub fn new(level: Level, members: u32, unit_bytes: u32) -> Result<Raid, RaidError> {
        if members < level.least() || members > 64 {
            return Err(RaidError::Members { level, members });
        }
        if level == Level::Raid10 && members % 2 == 1 {
            return Err(RaidError::Odd(members));
        }
        if !unit_bytes.is_power_of_two() || unit_bytes < 512 {
            return Err(RaidError::Unit(unit_bytes));
        }
        let columns = match level {
            Level::Raid1 => 1,
            Level::Raid10 => members / 2,
            _ => members - level.parities(),
        };
        let shift = unit_bytes.trailing_zeros();
        Ok(Raid { level, members, shift, columns: Divisor::new(columns), rotation: Divisor::new(members) })
    }

    /// Members of the group.
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Units of a row that hold data.
    pub fn data(&self) -> u32 {
        self.columns.by
    }

    /// Bytes of a stripe unit.
    pub fn unit(&self) -> u32 {
        1 << self.shift
    }

    /// Calls `piece` for each row that a read touches. Whether all of it can be read with these members lost.
    #[inline]
    pub fn read(&self, address: u64, bytes: u32, lost: u64, mut piece: impl FnMut(Piece)) -> bool {
        self.rows(address, bytes, |row, touched, bytes| {
            let reads = self.reading(row, touched, lost);
            piece(Piece { reads: reads.unwrap_or(0), writes: 0, bytes });
            reads.is_some()
        })
    }

    /// The same for a write: reads that parity needs, then writes.
    #[inline]
    pub fn write(&self, address: u64, bytes: u32, lost: u64, mut piece: impl FnMut(Piece)) -> bool {
        self.rows(address, bytes, |row, touched, bytes| {
            let found = self.writing(row, touched, lost);
            let (reads, writes) = found.unwrap_or((0, 0));
            piece(Piece { reads, writes, bytes });
            found.is_some()
        })
    }

    /// Reads and writes of the members for a whole I/O; none when too many members are lost.
    pub fn cost(&self, write: bool, address: u64, bytes: u32, lost: u64) -> Option<(u32, u32)> {
        let (mut reads, mut writes) = (0, 0);
        let count = |piece: Piece| {
            reads += piece.reads.count_ones();
            writes += piece.writes.count_ones();
        };
        let whole =
            if write { self.write(address, bytes, lost, count) } else { self.read(address, bytes, lost, count) };
        whole.then_some((reads, writes))
    }

    /// How often an I/O asks the member that it asks most often: in one row each reads once and then writes once.
    pub fn most(&self, write: bool, address: u64, bytes: u32, lost: u64) -> u32 {
        let mut asked = [0u32; 64];
        let count = |piece: Piece| {
            let mut members = piece.reads | piece.writes;
            while members != 0 {
                asked[members.trailing_zeros() as usize] += 1;
                members &= members - 1;
            }
        };
        if write {
            self.write(address, bytes, lost, count)
        } else {
            self.read(address, bytes, lost, count)
        };
        asked.into_iter().max().unwrap_or(0)
    }

    /// What it takes to make a row of one lost member again; none when the others do not know it.
    pub fn rebuild(&self, row: u64, member: u32, lost: u64) -> Option<Piece> {
        let bit = 1u64 << member;
        let others = self.everybody() & !(lost | bit);
        let reads = match self.level {
            Level::Raid0 => 0,
            Level::Raid1 => lowest(others, 1),
            Level::Raid10 => others & (1 << (member ^ 1)),
            _ => rotated(others, row, self.data()),
        };
        let enough = match self.level {
            Level::Raid0 | Level::Raid1 | Level::Raid10 => 1,
            _ => self.data(),
        };
        (reads.count_ones() == enough).then_some(Piece { reads, writes: bit, bytes: self.unit() })
    }

    fn everybody(&self) -> u64 {
        u64::MAX >> (64 - self.members)
    }

    /// Walks the rows of an I/O: number, touched columns as first and count, bytes of each member's part.
    #[inline]
    fn rows(&self, address: u64, bytes: u32, mut each: impl FnMut(u64, (u32, u32), u32) -> bool) -> bool {
        let (mut unit, last) = (address >> self.shift, (address + u64::from(bytes.max(1)) - 1) >> self.shift);
        let part = bytes.min(self.unit());
        let mut whole = true;
        while unit <= last {
            let (row, column) = self.columns.split(unit);
            let count = (last - unit + 1).min(u64::from(self.data() - column)) as u32;
            whole &= each(row, (column, count), part);
            unit += u64::from(count);
        }
        whole
    }

    /// The member that a rotation of a row puts at a place.
    #[inline]
    fn member(&self, first: u32, place: u32) -> u64 {
        let member = first + place;
        1 << if member >= self.members { member - self.members } else { member }
    }

    /// Parities, touched data and all data of a row, as bits.
    #[inline]
    fn masks(&self, row: u64, (column, count): (u32, u32)) -> (u64, u64, u64) {
        let parities = self.level.parities();
        let first = if parities == 0 { 0 } else { self.rotation.split(row).1 };
        let bits = |from: u32, count: u32| (from..from + count).fold(0, |bits, place| bits | self.member(first, place));
        let parity = bits(0, parities);
        (parity, bits(parities + column, count), self.everybody() & !parity)
    }

    #[inline]
    fn reading(&self, row: u64, touched: (u32, u32), lost: u64) -> Option<u64> {
        match self.level {
            Level::Raid1 => {
                let alive = self.everybody() & !lost;
                let wanted = 1 << self.rotation.split(row).1;
                let found = if alive & wanted == 0 { lowest(alive, 1) } else { wanted };
                (found != 0).then_some(found)
            }
            Level::Raid10 => (touched.0..touched.0 + touched.1).try_fold(0, |reads, pair| {
                let wanted = 1u64 << (2 * pair + (row & 1) as u32);
                let other = 1u64 << (2 * pair + 1 - (row & 1) as u32);
                let found = if lost & wanted == 0 { wanted } else { other };
                (lost & found == 0).then_some(reads | found)
            }),
            _ => {
                let (_, data, _) = self.masks(row, touched);
                if data & lost == 0 {
                    return Some(data);
                }
                self.survivors(row, lost, data)
            }
        }
    }

    /// As many members as a row has data units, from which everything in it can be computed, `wanted` among them.
    fn survivors(&self, row: u64, lost: u64, wanted: u64) -> Option<u64> {
        let (alive, wanted) = (self.everybody() & !lost, wanted & !lost);
        let more = self.data() - wanted.count_ones();
        let reads = wanted | rotated(alive & !wanted, row, more);
        (self.level != Level::Raid0 && reads.count_ones() == self.data()).then_some(reads)
    }

    #[inline]
    fn writing(&self, row: u64, touched: (u32, u32), lost: u64) -> Option<(u64, u64)> {
        match self.level {
            Level::Raid1 => {
                let alive = self.everybody() & !lost;
                (alive != 0).then_some((0, alive))
            }
            Level::Raid10 => (touched.0..touched.0 + touched.1)
                .try_fold(0, |writes, pair| {
                    let alive = (3u64 << (2 * pair)) & !lost;
                    (alive != 0).then_some(writes | alive)
                })
                .map(|writes| (0, writes)),
            _ => self.parity(row, touched, lost),
        }
    }

    /// A write under parity: the full stripe, or the cheapest way to know the new parity.
    #[inline]
    fn parity(&self, row: u64, touched: (u32, u32), lost: u64) -> Option<(u64, u64)> {
        let (parity, data, all) = self.masks(row, touched);
        if (lost & self.everybody()).count_ones() > self.level.parities() {
            return None;
        }
        let (alive, rest) = (parity & !lost, all & !data);
        let writes = (data | alive) & !lost;
        if alive == 0 || rest == 0 {
            return Some((0, writes));
        }
        // What was there and its parity; or the rest of the row; or whatever is left of it.
        let change = (data & lost == 0).then_some(data | alive);
        let anew = (rest & lost == 0).then_some(rest);
        let fewest = change.into_iter().chain(anew).min_by_key(|reads| reads.count_ones());
        Some((fewest.or_else(|| self.survivors(row, lost, 0))?, writes))
    }
}

/// The lowest bits of a mask.
fn lowest(mut mask: u64, count: u32) -> u64 {
    let all = mask;
    (0..count).for_each(|_| mask &= mask.wrapping_sub(1));
    all & !mask
}

/// Some bits of a mask, others in each row, so that no member reads for all.
fn rotated(mask: u64, row: u64, count: u32) -> u64 {
    let turn = (row & 63) as u32;
    lowest(mask.rotate_right(turn), count).rotate_left(turn)
}

/// Division by a number that never changes, as one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    by: u32,
    magic: u64,
}

impl Divisor {
    fn new(by: u32) -> Divisor {
        Divisor { by, magic: (u64::MAX / u64::from(by)).wrapping_add(1) }
    }

    /// Quotient and rest. The product is exact below 2^32; beyond, the machine divides.
    #[inline]
    fn split(self, value: u64) -> (u64, u32) {
        let by = u64::from(self.by);
        let quotient = if value >> 32 != 0 || self.by == 1 {
            value / by
        } else {
            ((u128::from(value) * u128::from(self.magic)) >> 64) as u64
        };
        (quotient, (value - quotient * by) as u32)
    }
}

// The stripe inside a module: data and one parity over its channels, narrower by one with each channel that fails.
//
// The one idea: the second dimension of a two-dimensional RAID. A module that loses a channel goes on with 8+1 instead of
// 9+1: its rate falls with its channels, each write costs a little more parity, and the system's RAID notices nothing.

/// A stripe over the channels of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    channels: u32,
    failed: u32,
}

impl Stripe {
    /// Over so many channels, one of them parity. A module of one channel has no stripe inside.
    pub fn new(channels: u32) -> Stripe {
        Stripe { channels: channels.max(1), failed: 0 }
    }

    /// The channels that carry data in a stripe: one less than there are, as long as two are left.
    pub fn data(self) -> u32 {
        let left = self.channels - self.failed;
        if self.channels == 1 { left } else { left.saturating_sub(1) }
    }

    /// Loses a channel. Whether the module still works: data and parity need two channels.
    pub fn lose(&mut self) -> bool {
        self.failed = (self.failed + 1).min(self.channels);
        self.data() > 0
    }

    /// By how much longer the module takes for a byte read than with all channels.
    pub fn reading(self) -> f64 {
        f64::from(self.channels) / f64::from((self.channels - self.failed).max(1))
    }

    /// The same for a byte written: fewer channels, of which parity takes a greater part.
    pub fn writing(self) -> f64 {
        f64::from(Stripe::new(self.channels).data()) / f64::from(self.data().max(1))
    }
}
