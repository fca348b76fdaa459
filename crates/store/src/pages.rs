//! The pages of a file, looked at before anybody reads what is on them.
//!
//! The one idea: where every page, every chain and every cell has one place, nothing costs more to read than the file is long. A
//! page that two trees share, a chain that comes back to itself, or a cell that two rows share would let a small file hold rows
//! and values without end. The form is that of <https://www.sqlite.org/fileformat2.html>.
//!
//! What it does not do: it reads no value. What is wrong inside a record, SQLite finds.

use crate::StoreError;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// SQLite refuses deeper trees; ours have three levels.
const DEPTH_MAX: u32 = 20;

/// What the head of a file without a write-ahead log says of who may write and read it.
const CLOSED: [u8; 2] = [1, 1];

/// The pages of one file, and which of them have been met.
#[derive(Debug)]
pub(crate) struct Pages {
    file: File,
    page_bytes: usize,
    /// A page less what is set aside at its end.
    usable: usize,
    count: u64,
    closed: bool,
    /// A bit a page. Zeros that nobody asked for take no memory.
    met: Vec<u64>,
}

/// What is wrong, in words.
type Wrong = String;

impl Pages {
    /// Looks at the header. The file must be one that SQLite takes for its own.
    pub(crate) fn of(path: &Path) -> Result<Pages, StoreError> {
        let file = File::open(path).map_err(|error| StoreError::Unreachable(path.to_path_buf(), error))?;
        Pages::of_file(file).map_err(|wrong| StoreError::Damaged(path.to_path_buf(), wrong))
    }

    fn of_file(file: File) -> Result<Pages, Wrong> {
        let mut header = [0; 100];
        file.read_exact_at(&mut header, 0).map_err(|error| error.to_string())?;
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 1 << 16,
            bytes => usize::from(bytes),
        };
        let usable = page_bytes.saturating_sub(usize::from(header[20]));
        if !page_bytes.is_power_of_two() || usable < 480 {
            return Err(format!("its pages have {page_bytes} bytes, and {usable} that can be used"));
        }
        let count = file.metadata().map_err(|error| error.to_string())?.len() / page_bytes as u64;
        let words = usize::try_from(count / 64 + 1).unwrap_or(usize::MAX);
        let closed = header[18..20] == CLOSED;
        Ok(Pages { file, page_bytes, usable, count, closed, met: vec![0; words] })
    }

    /// Whether the run was closed: a writer has a write-ahead log from the first moment to the last.
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.count * self.page_bytes as u64
    }

    /// Looks at every page of a tree.
    pub(crate) fn walk(&mut self, root: u32, path: &Path) -> Result<(), StoreError> {
        self.tree(root, 0, &mut None).map_err(|wrong| StoreError::Damaged(path.to_path_buf(), wrong))
    }

    /// The file, which must stay open as long as SQLite works on it: closing any handle of a file lets go of all locks that
    /// this process holds on it.
    pub(crate) fn into_file(self) -> File {
        self.file
    }

    fn tree(&mut self, number: u32, depth: u32, last: &mut Option<i64>) -> Result<(), Wrong> {
        if depth == DEPTH_MAX {
            return Err(format!("a tree is deeper than {DEPTH_MAX} pages"));
        }
        self.meet(number)?;
        let mut bytes = vec![0; self.page_bytes];
        self.read(number, &mut bytes)?;
        let node = Node::of(&bytes, number, self.usable)?;
        let mut room = self.usable;
        for index in 0..node.cells {
            let cell = node.cell(index).ok_or_else(|| format!("a cell lies outside of page {number}"))?;
            room = room.checked_sub(cell.bytes + 2).ok_or_else(|| format!("cells of page {number} share bytes"))?;
            if let Some(child) = cell.child {
                self.tree(child, depth + 1, last)?;
            }
            if let Some(row) = cell.row.filter(|_| cell.child.is_none())
                && last.replace(row).is_some_and(|last| last >= row)
            {
                return Err(format!("the rows of page {number} are not in order"));
            }
            if let Some((first, beyond)) = cell.beyond {
                self.chain(first, beyond)?;
            }
        }
        node.right.map_or(Ok(()), |right| self.tree(right, depth + 1, last))
    }

    /// The pages of a value that does not fit into its cell.
    fn chain(&mut self, first: u32, bytes: u64) -> Result<(), Wrong> {
        let mut next = [0; 4];
        let mut number = first;
        for _ in 0..bytes.div_ceil(self.usable as u64 - 4) {
            self.meet(number)?;
            self.read(number, &mut next)?;
            number = u32::from_be_bytes(next);
        }
        Ok(())
    }

    fn meet(&mut self, number: u32) -> Result<(), Wrong> {
        let Some(at) = u64::from(number).checked_sub(1).filter(|at| *at < self.count) else {
            return Err(format!("page {number} is outside of the file"));
        };
        let (word, bit) = (&mut self.met[(at / 64) as usize], 1 << (at % 64));
        if *word & bit != 0 {
            return Err(format!("page {number} is used twice"));
        }
        *word |= bit;
        Ok(())
    }

    fn read(&self, number: u32, bytes: &mut [u8]) -> Result<(), Wrong> {
        let at = (u64::from(number) - 1) * self.page_bytes as u64;
        self.file.read_exact_at(bytes, at).map_err(|error| format!("page {number} cannot be read: {error}"))
    }
}

/// A page of a tree.
struct Node<'a> {
    bytes: &'a [u8],
    usable: usize,
    is_leaf: bool,
    is_table: bool,
    cells: usize,
    /// Where the places of the cells stand.
    places: usize,
    right: Option<u32>,
}

/// What of a cell decides what is read.
struct Cell {
    /// In this page.
    bytes: usize,
    child: Option<u32>,
    row: Option<i64>,
    /// Where the rest of its value begins, and how many bytes that is.
    beyond: Option<(u32, u64)>,
}

impl<'a> Node<'a> {
    fn of(bytes: &'a [u8], number: u32, usable: usize) -> Result<Node<'a>, Wrong> {
        // The first page begins with the header of the file.
        let head = if number == 1 { 100 } else { 0 };
        let (is_leaf, is_table) = match bytes[head] {
            2 => (false, false),
            5 => (false, true),
            10 => (true, false),
            13 => (true, true),
            kind => return Err(format!("page {number} is of the kind {kind}, which no tree has")),
        };
        let cells = usize::from(u16::from_be_bytes([bytes[head + 3], bytes[head + 4]]));
        let places = head + if is_leaf { 8 } else { 12 };
        let right = if is_leaf { None } else { u32_at(bytes, head + 8) };
        Ok(Node { bytes: &bytes[..usable], usable, is_leaf, is_table, cells, places, right })
    }

    fn cell(&self, index: usize) -> Option<Cell> {
        let place = self.places + 2 * index;
        let start = usize::from(u16::from_be_bytes(self.bytes.get(place..place + 2)?.try_into().ok()?));
        let mut at = start;
        let child = if self.is_leaf { None } else { Some(u32_at(self.bytes, at)?) };
        at += if self.is_leaf { 0 } else { 4 };
        if self.is_table && !self.is_leaf {
            let row = varint(self.bytes, &mut at)?;
            return Some(Cell { bytes: at - start, child, row: Some(row as i64), beyond: None });
        }
        let payload = varint(self.bytes, &mut at)?;
        let row = if self.is_table { Some(varint(self.bytes, &mut at)? as i64) } else { None };
        let here = self.local(payload);
        at = at.checked_add(here)?;
        let rest = payload - here as u64;
        let beyond = if rest == 0 { None } else { Some((u32_at(self.bytes, at)?, rest)) };
        at += if rest == 0 { 0 } else { 4 };
        (at <= self.usable).then_some(Cell { bytes: at - start, child, row, beyond })
    }

    /// How many bytes of a value stand in its cell.
    fn local(&self, payload: u64) -> usize {
        let usable = self.usable as u64;
        let most = if self.is_table { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
        if payload <= most {
            return payload as usize;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let fitting = least + (payload - least) % (usable - 4);
        (if fitting <= most { fitting } else { least }) as usize
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number of one to nine bytes, high bits first; the ninth holds eight bits.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if place == 8 {
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}
