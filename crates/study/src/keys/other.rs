//! Words of other tools for keys: whoever comes from one of them is understood.
//!
//! The one idea: a word of another tool is the key itself under another name, so that plans, reports and refusals speak of one key.

use workload::block::keys::{PATTERN, READ, TRANSFER};

use super::load::OUTSTANDING;
use reading::AnyKey;

/// All such words.
pub(crate) const WORDS: [&str; 6] = ["bs", "block_size", "rw", "queue_depth", "iodepth", "qd"];

/// The name of a key, where a word is another tool's for it; else the word.
pub(super) fn known(word: &str) -> &str {
    match word {
        "queue_depth" | "iodepth" | "qd" => OUTSTANDING.name,
        "block_size" | "bs" => TRANSFER.name,
        word => word,
    }
}

/// The word that says two keys at once.
pub(crate) const RW: &str = "rw";

/// What such a word means: the pattern, and the share of reads.
///
/// # Errors
/// The words that there are.
pub(crate) fn rw(text: &str) -> Result<[(&'static dyn AnyKey, &'static str); 2], String> {
    let (pattern, read) = match text {
        "read" => ("sequential", "100%"),
        "write" => ("sequential", "0%"),
        "rw" | "readwrite" => ("sequential", "50%"),
        "randread" => ("random", "100%"),
        "randwrite" => ("random", "0%"),
        "randrw" => ("random", "50%"),
        _ => return Err(format!("one of `read`, `write`, `rw`, `randread`, `randwrite`, `randrw`, got `{text}`")),
    };
    Ok([(&PATTERN, pattern), (&READ, read)])
}
