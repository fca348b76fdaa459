//! The steps of one copy of the loop, without I/O.
//!
//! The one idea: the work is fixed before it starts. Step `i` of copy `c` follows from the spec alone, and so do the totals, so that
//! the engine can check that the same work was done on every system.
//!
//! Files hold stamped blocks (`block::fill`): the place in a stamp is the number of the created file and the offset in
//! it. A copy holds the stamps of the file that it was made from, so that reading the copy proves the whole way.
//!
//! What it does not do: it names no path and opens no file.

use super::Spec;

/// Class of creating a file.
pub const CREATE: u16 = 0;
/// Class of copying it.
pub const COPY: u16 = 1;
/// Class of reading the copy.
pub const READ: u16 = 2;

/// Which of the two files of a copy of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The file that is created.
    Source,
    /// The file that it is copied to.
    Target,
}

/// One step of a copy of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Makes the source anew and writes it whole, with the stamps of `file`.
    Create {
        /// Number of the file: the module in its stamps.
        file: u32,
    },
    /// Reads the source and writes the target, block by block.
    Copy {
        /// Number of the file.
        file: u32,
    },
    /// Reads the target whole; it holds the stamps of `file`.
    Read {
        /// Number of the file.
        file: u32,
    },
    /// Removes a file, so that the next round makes new ones; part of the work, outside every class.
    Remove {
        /// Which.
        path: Path,
    },
}

impl Step {
    /// Index of the class in the stream's label; none for a step that is not timed by itself.
    pub fn class(&self) -> Option<u16> {
        match self {
            Step::Create { .. } => Some(CREATE),
            Step::Copy { .. } => Some(COPY),
            Step::Read { .. } => Some(READ),
            Step::Remove { .. } => None,
        }
    }
}

/// The steps of one copy of the loop, in order.
#[derive(Clone, Debug)]
pub struct Steps {
    first_file: u32,
    step: u64,
    end: u64,
}

const STEPS_OF_A_ROUND: u64 = 5;

impl Steps {
    /// The steps of copy `copy`, counted from 0 and below the width.
    pub fn new(spec: &Spec, copy: u32) -> Steps {
        Steps { first_file: copy.wrapping_mul(spec.loops), step: 0, end: STEPS_OF_A_ROUND * u64::from(spec.loops) }
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.step == self.end {
            return None;
        }
        let file = self.first_file.wrapping_add((self.step / STEPS_OF_A_ROUND) as u32);
        self.step += 1;
        Some(match (self.step - 1) % STEPS_OF_A_ROUND {
            0 => Step::Create { file },
            1 => Step::Copy { file },
            2 => Step::Read { file },
            3 => Step::Remove { path: Path::Source },
            _ => Step::Remove { path: Path::Target },
        })
    }
}

/// One system call's part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it starts in the file.
    pub offset: u64,
    /// How many bytes; the last piece of a file may be short.
    pub bytes: u32,
}

/// A file in pieces of the spec's block, in order.
pub fn pieces(spec: &Spec) -> impl Iterator<Item = Piece> + use<> {
    let (file, block) = (spec.file.0, spec.block.0.max(1));
    (0..file.div_ceil(block)).map(move |index| {
        let offset = index * block;
        Piece { offset, bytes: block.min(file - offset) as u32 }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Bytes;

    use super::*;

    fn spec(width: u32, loops: u32, file: u64, block: u64) -> Spec {
        Spec { width, loops, file: Bytes(file), block: Bytes(block), sync: false }
    }

    #[test]
    fn each_round_creates_copies_reads_and_removes() {
        let steps: Vec<Step> = Steps::new(&spec(3, 2, 10, 4), 1).collect();
        let round = |file| {
            [
                Step::Create { file },
                Step::Copy { file },
                Step::Read { file },
                Step::Remove { path: Path::Source },
                Step::Remove { path: Path::Target },
            ]
        };
        assert_eq!(steps, [round(2), round(3)].concat());
        assert_eq!(steps.iter().filter_map(Step::class).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn no_two_rounds_of_any_copy_share_a_file_number() {
        let spec = spec(7, 5, 10, 4);
        let created = |step| if let Step::Create { file } = step { Some(file) } else { None };
        let mut files: Vec<u32> = (0..7).flat_map(|copy| Steps::new(&spec, copy).filter_map(created)).collect();
        files.sort_unstable();
        assert_eq!(files, (0..35).collect::<Vec<_>>());
    }

    #[test]
    fn the_last_piece_of_a_file_is_as_short_as_the_file_ends() {
        let pieces: Vec<Piece> = pieces(&spec(1, 1, 10, 4)).collect();
        let piece = |offset, bytes| Piece { offset, bytes };
        assert_eq!(pieces, [piece(0, 4), piece(4, 4), piece(8, 2)]);
    }

    proptest! {
        #[test]
        fn all_copies_together_write_what_the_spec_says(
            width in 1u32..6, loops in 1u32..6, file in 0u64..5000, block in 1u64..3000,
        ) {
            let spec = spec(width, loops, file, block);
            let bytes: u64 = pieces(&spec).map(|piece| u64::from(piece.bytes)).sum();
            prop_assert_eq!(bytes, file);
            // Files that were created, copied, read and removed.
            let mut counts = [0; 4];
            for step in (0..width).flat_map(|copy| Steps::new(&spec, copy)) {
                counts[match step {
                    Step::Create { .. } => 0,
                    Step::Copy { .. } => 1,
                    Step::Read { .. } => 2,
                    Step::Remove { .. } => 3,
                }] += 1;
            }
            let rounds = u64::from(width) * u64::from(loops);
            prop_assert_eq!(counts, [rounds, rounds, rounds, 2 * rounds]);
            prop_assert_eq!((counts[0] + counts[1]) * bytes, spec.written().0);
        }
    }
}
