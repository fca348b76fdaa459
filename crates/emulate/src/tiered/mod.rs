//! A fast and a slow folder under one mount.
//!
//! The one idea: names, sizes and rights are those of the slow folder; each extent of a file lies in the file itself or, while it is
//! hot, in a slot of the fast folder. Whoever reads or writes looks up where, and holds the table still only while data moves in
//! memory; who moves an extent copies it beside them, and changes the table when nobody has written meanwhile.

mod heat;
mod map;
mod mover;
mod rules;

pub(crate) use mover::Mover;
pub use rules::{Goes, NoRule, Rule};

use crate::locked;
use crate::operations::{Answer, Device, Serves, errno};
use crate::place::{EXTENT, Places};
use crate::tree::Node;
use fuser::Errno;
use heat::Heat;
use map::{Key, Map};
use recorder::{Clock, WallClock};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use units::{Bytes, Nanos};
use workload::happening::{Fault, Happening};

/// The number by which the fast device knows the file of its slots.
const SLOTS: u64 = 1;

/// The attribute of a slow folder that names its fast one. A file system without attributes goes without.
const MARK: &str = "user.prony.tier";

/// Bytes of a page of heat: an attribute holds 64 KiB.
const PAGE: usize = 60_000;

/// How extents come to the fast tier.
#[derive(Clone, Debug)]
pub struct Tiering {
    /// The folder of the fast tier.
    pub fast: PathBuf,
    /// Bytes that it takes.
    pub room: Bytes,
    /// Where files begin, and what stays where it is.
    pub rules: Vec<Rule>,
    /// How often the mover looks.
    pub every: Nanos,
    /// Bytes that it moves in a second at most; none where nothing is moved.
    pub budget: Bytes,
    /// After so long what came counts a half.
    pub half_life: Nanos,
    /// An extent takes the place of another that is so many times colder.
    pub hysteresis: f64,
    /// A file to which each move adds a line.
    pub trace: Option<PathBuf>,
}

/// Where extents lie, and the one that is being moved.
struct Placed {
    map: Map,
    /// Files of which extents were asked for or lie on the fast tier, by their numbers.
    files: HashMap<u64, Arc<Node>>,
    moving: Option<Key>,
}

/// What serves such a mount.
pub(crate) struct Tiered {
    slow: Arc<Device>,
    fast: Arc<Device>,
    placed: RwLock<Placed>,
    /// Whether somebody wrote to the extent that is being moved.
    written: AtomicBool,
    heat: Mutex<Heat>,
    clock: WallClock,
    tiering: Tiering,
    root: PathBuf,
    counts: Counts,
    /// What was told of the heat, while its pages are read.
    told: Mutex<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Counts {
    fast: AtomicU64,
    slow: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
}

impl Tiered {
    /// Two devices as one, with what the fast folder holds of files of the slow one.
    ///
    /// # Errors
    /// As [`Map::open`].
    pub(crate) fn new(slow: Arc<Device>, fast: Arc<Device>, tiering: Tiering, root: &Path) -> io::Result<Tiered> {
        let owner = std::fs::metadata(root)?.ino();
        let slots = u32::try_from(tiering.room.0 / EXTENT).unwrap_or(u32::MAX - 1);
        let mut map = Map::open(&tiering.fast, slots, owner)?;
        let files = kept(&mut map, root)?;
        let above = tiering.fast.canonicalize()?;
        let _ = rustix::fs::setxattr(root, MARK, above.as_os_str().as_bytes(), rustix::fs::XattrFlags::empty());
        Ok(Tiered {
            slow,
            fast,
            placed: RwLock::new(Placed { map, files, moving: None }),
            written: AtomicBool::new(false),
            heat: Mutex::new(Heat::new(tiering.half_life)),
            clock: WallClock::new(),
            tiering,
            root: root.canonicalize()?,
            counts: Counts::default(),
            told: Mutex::default(),
        })
    }

    /// The file to which each move adds a line.
    pub(crate) fn trace(&self) -> Option<&Path> {
        self.tiering.trace.as_deref()
    }

    /// What lies on the fast tier beyond its room, from a mount that had more.
    pub(crate) fn beyond_room(&self) -> Bytes {
        let lies = self.read_placed().map.all().count() as u64 * EXTENT;
        Bytes(lies.saturating_sub(self.tiering.room.0 / EXTENT * EXTENT))
    }

    fn read_placed(&self) -> RwLockReadGuard<'_, Placed> {
        self.placed.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_placed(&self) -> RwLockWriteGuard<'_, Placed> {
        self.placed.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What rules say of a file.
    fn goes(&self, node: &Node) -> Option<Goes> {
        if self.tiering.rules.is_empty() {
            return None;
        }
        let name = node.name()?;
        let name = name.strip_prefix(&self.root).unwrap_or(&name).to_string_lossy().into_owned();
        let metadata = node.file().ok()?.metadata().ok()?;
        let age_s = metadata.modified().ok().and_then(|at| at.elapsed().ok()).map_or(0.0, |age| age.as_secs_f64());
        rules::goes(&self.tiering.rules, rules::Seen { name: &name, bytes: metadata.len(), age_s })
    }

    /// Somebody asks for an extent.
    fn touch(&self, node: &Node, extent: u64, write: bool, fast: bool) {
        let side = if fast { &self.counts.fast } else { &self.counts.slow };
        side.fetch_add(1, Ordering::Relaxed);
        locked(&self.heat).touch((node.inode, extent), self.clock.now(), write);
    }

    /// A file is known to the mover from when it is asked for.
    fn know(&self, node: &Node) {
        if node.inode > 0
            && !self.read_placed().files.contains_key(&node.inode)
            && let Ok(again) = node.again()
        {
            self.write_placed().files.insert(node.inode, Arc::new(again));
        }
    }

    /// Gives new extents of a file that grows a slot, where a rule wants that and one is free.
    fn begin(&self, node: &Node, (offset, bytes): (u64, u64), size: u64) -> io::Result<()> {
        let new = size.div_ceil(EXTENT).max(offset / EXTENT)..(offset + bytes).div_ceil(EXTENT);
        if new.is_empty() || !matches!(self.goes(node), Some(Goes::Fast | Goes::KeepFast)) {
            return Ok(());
        }
        let mut placed = self.write_placed();
        for extent in new {
            if placed.map.of((node.inode, extent)).is_none()
                && let Some(slot) = placed.map.take()
            {
                emptied(&placed.map.data, slot, 0)?;
                placed.map.set((node.inode, extent), slot)?;
            }
        }
        Ok(())
    }
}

/// The fast folder, other than `fast`, in which extents of a slow folder lie. Mounted without it, files would have holes.
pub(crate) fn elsewhere(slow: &Path, fast: Option<&Path>) -> Option<PathBuf> {
    let mut name = vec![0; 1 << 16];
    let length = rustix::fs::getxattr(slow, MARK, &mut name[..]).ok()?;
    name.truncate(length);
    let marked = PathBuf::from(OsString::from_vec(name));
    let holds = Map::holds(&marked, std::fs::metadata(slow).ok()?.ino());
    match fast.map(Path::canonicalize) {
        // One that is not there may be this one under another name.
        Some(fast) => (holds.unwrap_or(false) && fast.is_ok_and(|fast| fast != marked)).then_some(marked),
        None => holds.unwrap_or(true).then_some(marked),
    }
}

/// Whether a folder holds slots for extents.
pub(crate) fn is_fast(folder: &Path) -> bool {
    Map::lies_in(folder)
}

/// Bytes that the extents of a fast folder take there now.
pub(crate) fn taken(folder: &Path) -> u64 {
    Map::taken(folder)
}

/// Where a slot begins in the file of slots.
fn place(slot: u32) -> u64 {
    u64::from(slot) * EXTENT
}

/// Makes a slot hold zeros from a byte on.
fn emptied(data: &File, slot: u32, from: u64) -> io::Result<()> {
    let mode = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    let at = place(slot) + from;
    match rustix::fs::fallocate(data, mode, at, EXTENT - from) {
        Err(rustix::io::Errno::OPNOTSUPP) => data.write_all_at(&vec![0; (EXTENT - from) as usize], at),
        done => Ok(done?),
    }
}

/// The files of a folder that have extents in the map; those of files that are gone, or ended before them, leave it.
fn kept(map: &mut Map, root: &Path) -> io::Result<HashMap<u64, Arc<Node>>> {
    let mut wanted: HashMap<u64, Vec<u64>> = HashMap::new();
    map.all().for_each(|((file, extent), _)| wanted.entry(file).or_default().push(extent));
    let (mut files, mut folders) = (HashMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop().filter(|_| !wanted.is_empty()) {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (metadata, path) = (entry.metadata()?, entry.path());
            if metadata.is_dir() {
                folders.push(path);
            } else if let Some(extents) = wanted.remove(&metadata.ino()).filter(|_| metadata.is_file()) {
                for extent in extents.iter().filter(|extent| **extent * EXTENT >= metadata.len()) {
                    map.clear((metadata.ino(), *extent))?;
                }
                files.insert(metadata.ino(), Arc::new(Node::at(&path, metadata.ino())?));
            }
        }
    }
    for (file, extents) in wanted {
        extents.into_iter().try_for_each(|extent| map.clear((file, extent)))?;
    }
    Ok(files)
}

/// What is called with the answers of several extents, in their order.
type Whole<T> = Box<dyn FnOnce(Vec<Result<T, Errno>>) + Send>;

/// Answers of several extents as one.
struct Parts<T> {
    left: usize,
    all: Vec<Option<Result<T, Errno>>>,
    answer: Option<Whole<T>>,
}

/// An answer for each of so many parts, and what is called with all of them in their order.
fn parts<T: Send + 'static>(
    count: usize,
    answer: impl FnOnce(Vec<Result<T, Errno>>) + Send + 'static,
) -> impl Iterator<Item = Answer<T>> {
    let all = (0..count).map(|_| None).collect();
    let shared = Arc::new(Mutex::new(Parts { left: count, all, answer: Some(Box::new(answer)) }));
    (0..count).map(move |at| -> Answer<T> {
        let shared = shared.clone();
        Box::new(move |part| {
            let mut parts = locked(&shared);
            parts.all[at] = Some(part);
            parts.left -= 1;
            if parts.left == 0
                && let Some(answer) = parts.answer.take()
            {
                let all = std::mem::take(&mut parts.all);
                drop(parts);
                answer(all.into_iter().map(|part| part.unwrap_or(Err(Errno::EIO))).collect());
            }
        })
    })
}

impl Serves for Tiered {
    fn read(&self, node: &Node, offset: u64, bytes: u32, answer: Answer<Vec<u8>>) {
        let opened = node.file().and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = match opened {
            Ok(opened) => opened,
            Err(error) => return answer(Err(errno(&error))),
        };
        let bytes = u64::from(bytes).min(size.saturating_sub(offset));
        if bytes == 0 {
            return answer(Ok(Vec::new()));
        }
        self.know(node);
        let pieces: Vec<(u64, u64)> = Places::pieces(offset, bytes).collect();
        let whole = move |all: Vec<Result<Vec<u8>, Errno>>| {
            let parts: Result<Vec<Vec<u8>>, Errno> = all.into_iter().collect();
            answer(parts.map(|parts| parts.concat()));
        };
        let placed = self.read_placed();
        for ((at, bytes), answer) in pieces.iter().zip(parts(pieces.len(), whole)) {
            let slot = placed.map.of((node.inode, at / EXTENT));
            self.touch(node, at / EXTENT, false, slot.is_some());
            let bytes = *bytes as u32;
            match slot {
                Some(slot) => {
                    let at = place(slot) + at % EXTENT;
                    self.fast.read_from(&placed.map.data, SLOTS, at, bytes, answer);
                }
                // What lies behind the end of the file by the time that it is read is zero, as it was when the size was asked for.
                None => self.slow.read_from(&file, node.number, *at, bytes, answer),
            }
        }
    }

    fn write(&self, node: &Node, offset: u64, data: &[u8], durable: bool, answer: Answer<u32>) {
        let end = offset + data.len() as u64;
        let opened = node.file().and_then(|file| Ok((file.metadata()?.len(), file))).and_then(|(size, file)| {
            self.know(node);
            self.begin(node, (offset, data.len() as u64), size)?;
            Ok((size, file))
        });
        let (size, file) = match opened {
            Ok(opened) => opened,
            Err(error) => return answer(Err(errno(&error))),
        };
        let pieces: Vec<(u64, u64)> = Places::pieces(offset, data.len() as u64).collect();
        let whole = move |all: Vec<Result<u32, Errno>>| {
            let parts: Result<Vec<u32>, Errno> = all.into_iter().collect();
            answer(parts.map(|parts| parts.into_iter().sum()));
        };
        let placed = self.read_placed();
        for ((at, bytes), answer) in pieces.iter().zip(parts(pieces.len(), whole)) {
            let key = (node.inode, at / EXTENT);
            let slot = placed.map.of(key);
            self.touch(node, at / EXTENT, true, slot.is_some());
            if placed.moving == Some(key) {
                self.written.store(true, Ordering::Release);
            }
            let data = &data[(at - offset) as usize..][..*bytes as usize];
            match slot {
                Some(slot) => {
                    // The file is as long as what was written, wherever that lies.
                    if end > size
                        && let Err(error) = grown(&file, at + bytes)
                    {
                        answer(Err(errno(&error)));
                        continue;
                    }
                    let at = place(slot) + at % EXTENT;
                    self.fast.write_to(&placed.map.data, SLOTS, (at, data), durable, answer);
                }
                None => self.slow.write_to(&file, node.number, (*at, data), durable, answer),
            }
        }
    }

    fn flush(&self, answer: Answer<()>) {
        let mut both = parts(2, move |all: Vec<Result<(), Errno>>| answer(all.into_iter().collect()));
        [&self.slow, &self.fast].into_iter().zip(&mut both).for_each(|(device, answer)| device.flush(answer));
    }

    fn cut(&self, node: &Node, size: u64) -> io::Result<()> {
        let file = node.file()?;
        let mut placed = self.write_placed();
        let before = file.metadata()?.len();
        if size < before {
            let own =
                placed.map.all().filter(|((file, extent), _)| *file == node.inode && (extent + 1) * EXTENT > size);
            for ((inode, extent), slot) in own.collect::<Vec<_>>() {
                let left = size.saturating_sub(extent * EXTENT);
                self.slow.memory.empty(&placed.map.data, place(slot) + left..place(slot) + EXTENT);
                match left {
                    0 => placed.map.clear((inode, extent))?,
                    // What comes behind the end when it grows again is zero.
                    left => emptied(&placed.map.data, slot, left)?,
                }
            }
            if placed.moving.is_some_and(|(inode, _)| inode == node.inode) {
                placed.moving = None;
            }
        }
        rustix::fs::ftruncate(&file, size)?;
        self.slow.memory.cut(&file, size);
        Ok(())
    }

    fn reserved(&self, file: &File, size: u64) {
        self.slow.memory.reserve(file, size);
    }

    fn forget(&self, node: &Node) {
        let mut placed = self.write_placed();
        let own: Vec<(Key, u32)> = placed.map.all().filter(|((file, _), _)| *file == node.inode).collect();
        for (key, slot) in own {
            self.slow.memory.empty(&placed.map.data, place(slot)..place(slot) + EXTENT);
            // A record that stays names a file that is gone, and is dropped with the next mount.
            let _ = placed.map.clear(key);
        }
        placed.files.remove(&node.inode);
        if placed.moving.is_some_and(|(inode, _)| inode == node.inode) {
            placed.moving = None;
        }
        drop(placed);
        locked(&self.heat).forget(|(file, _)| file == node.inode);
        self.slow.is_gone(node);
    }

    fn alive(&self) -> Result<(), Errno> {
        self.slow.alive().and_then(|()| self.fast.alive())
    }

    fn room(&self) -> Result<(), Errno> {
        self.slow.room()
    }

    fn happen(&self, what: Happening) -> Result<(), Errno> {
        // A move that is under way has copied what a lost power undoes: it begins anew.
        let mut placed = (what == Happening::Fault(Fault::PowerLoss)).then(|| self.write_placed());
        placed.iter_mut().for_each(|placed| placed.moving = None);
        // A fault is one of both; parts are of the tier that has them.
        let both = [&self.slow, &self.fast].map(|device| device.happen(what));
        match both {
            [Ok(()), _] | [_, Ok(())] => Ok(()),
            [Err(Errno::EINVAL), error] | [error, _] => error,
        }
    }

    fn lost(&self) -> String {
        format!("{} of the slow tier, {} of the fast one", self.slow.lost(), self.fast.lost())
    }

    fn answers(&self) -> [u64; 2] {
        let (slow, fast) = (self.slow.answers(), self.fast.answers());
        [slow[0] + fast[0], slow[1] + fast[1]]
    }

    fn knows(&self) -> String {
        self.slow.knows() + &self.fast.knows()
    }

    fn heat(&self, page: usize) -> Option<Vec<u8>> {
        let mut told = locked(&self.told);
        if page == 0 {
            *told = self.tell();
        }
        told.chunks(PAGE).nth(page).map(<[u8]>::to_vec)
    }
}

/// Makes a file at least so long.
fn grown(file: &File, size: u64) -> io::Result<()> {
    if file.metadata()?.len() < size {
        // Two who grow it at once both come here; the shorter one must not cut the other.
        let mode = rustix::fs::FallocateFlags::empty();
        if rustix::fs::fallocate(file, mode, size - 1, 1).is_err() {
            file.write_at(&[0], size - 1)?;
        }
    }
    Ok(())
}

impl Tiered {
    /// What was counted and every extent that was asked for, a line each; columns have tabs between them.
    fn tell(&self) -> Vec<u8> {
        let (now, placed) = (self.clock.now(), self.read_placed());
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { fast, slow, up, down } = &self.counts;
        let mut text = format!("{}\t{}\t{}\t{}\n", count(fast), count(slow), count(up), count(down));
        let heat = locked(&self.heat);
        // What nobody asked for yet is known by where it lies.
        let mut known: BTreeMap<Key, (f64, heat::Warmth)> =
            placed.map.all().map(|(key, _)| (key, Default::default())).collect();
        known.extend(heat.all(now).map(|(key, heat, warmth)| (key, (heat, warmth))));
        for ((file, extent), (heat, warmth)) in known {
            let name = placed.files.get(&file).and_then(|node| node.name());
            let name = name.as_deref().and_then(|name| name.strip_prefix(&self.root).ok());
            let Some(name) = name else { continue };
            let tier = if placed.map.of((file, extent)).is_some() { "fast" } else { "slow" };
            let (reads, writes) = (warmth.reads, warmth.writes);
            text.push_str(&format!("{}\t{extent}\t{tier}\t{heat:.3}\t{reads}\t{writes}\n", name.display()));
        }
        text.into_bytes()
    }
}
