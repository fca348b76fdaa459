//! What transactions on lists saw and appended, in the words of checkers that others wrote.
//!
//! The one idea: a transaction reads one list whole, reads and locks another, and appends to that a number which nobody else appends. From
//! what all of them saw, a checker such as Elle knows in which order they must have been, and whether any order explains it. A history has
//! a limit: who has noted so much appends nothing more, so that no later read shows what nobody noted.
//!
//! What it does not do: it judges no isolation level. It only finds what was acknowledged and is not there.

use crate::transaction::{Ending, Value};
use std::collections::BTreeMap;
use units::Nanos;

/// Bytes that one worker notes at most.
const NOTED_MAX: usize = 4 << 20;

/// Bytes of a page at most.
const PAGE_MAX: usize = 60 << 10;

/// What fills the field behind a list, so that it keeps its length.
const FILLER: char = '.';

/// The numbers of a list in a field; none where it is of another trial or of the fill.
pub(super) fn read(field: &str, epoch: u64) -> Vec<u64> {
    let Some((of, list)) = field.split_once(':') else { return Vec::new() };
    if of.parse() != Ok(epoch) {
        return Vec::new();
    }
    list.trim_end_matches(FILLER).split(' ').filter_map(|number| number.parse().ok()).collect()
}

/// The field with one number more; none when there is no room for it.
pub(super) fn appended(list: &[u64], number: u64, epoch: u64, room: u32) -> Option<Value> {
    let numbers: Vec<String> = list.iter().chain([&number]).map(u64::to_string).collect();
    let text = format!("{epoch}:{}", numbers.join(" "));
    let filler = (room as usize).checked_sub(text.len())?;
    Some(Value::Text(text + &String::from(FILLER).repeat(filler)))
}

/// What one slot is about to do, or did.
#[derive(Clone, Debug, Default)]
struct Act {
    from: Nanos,
    reads: Vec<(i64, Vec<u64>)>,
    append: Option<(i64, u64)>,
    running: bool,
    /// How many clients this slot was: after an outcome that nobody knows it is another one.
    lives: u64,
}

/// The history of one worker.
#[derive(Clone, Debug)]
pub(super) struct History {
    acts: Vec<Act>,
    /// The first of its slots, and how many slots there are about, so that no two clients have one number.
    first: u64,
    pages: Vec<String>,
    noted: usize,
}

impl History {
    pub(super) fn new(first: u32, slots: u32) -> History {
        History { acts: vec![Act::default(); slots as usize], first: u64::from(first), pages: Vec::new(), noted: 0 }
    }

    /// Begins to note what a slot does, where there is room.
    pub(super) fn begin(&mut self, slot: u32, from: Nanos) {
        let (act, running) = (&mut self.acts[slot as usize], self.noted < NOTED_MAX);
        *act = Act { from, running, lives: act.lives, ..Act::default() };
    }

    /// It begins anew with the same inputs.
    pub(super) fn restart(&mut self, slot: u32) {
        let Act { from, running, lives, .. } = self.acts[slot as usize];
        self.acts[slot as usize] = Act { from, running, lives, ..Act::default() };
    }

    /// Whether what a slot does is noted.
    pub(super) fn notes(&self, slot: u32) -> bool {
        self.acts[slot as usize].running
    }

    pub(super) fn saw(&mut self, slot: u32, key: i64, list: Vec<u64>) {
        self.acts[slot as usize].reads.push((key, list));
    }

    pub(super) fn appends(&mut self, slot: u32, key: i64, number: u64) {
        self.acts[slot as usize].append = Some((key, number));
    }

    /// Whether the slot appended something.
    pub(super) fn has_appended(&self, slot: u32) -> bool {
        self.acts[slot as usize].append.is_some()
    }

    pub(super) fn end(&mut self, slot: u32, ending: Ending, to: Nanos) {
        let word = match ending {
            Ending::Done => "ok",
            Ending::Failed => "fail",
            Ending::Unknown => "info",
        };
        if self.notes(slot) {
            let line = self.line(slot as usize, word, to);
            self.note(line);
        }
        let act = &mut self.acts[slot as usize];
        act.running = false;
        act.lives += u64::from(ending == Ending::Unknown);
    }

    fn note(&mut self, line: String) {
        self.noted += line.len();
        match self.pages.last_mut().filter(|page| page.len() + line.len() <= PAGE_MAX) {
            Some(page) => page.push_str(&line),
            None => self.pages.push(line),
        }
    }

    /// Times, client, outcome, what was appended, what was meant, and what was seen, each behind a tab.
    fn line(&self, slot: usize, word: &str, to: Nanos) -> String {
        let act = &self.acts[slot];
        let client = (self.first + slot as u64) + (act.lives << 32);
        let appended = act.append.map_or("-".to_owned(), |(key, number)| format!("{key} {number}"));
        let steps = |seen: bool| {
            let read = |(key, list): &(i64, Vec<u64>)| {
                let list: Vec<String> = list.iter().map(u64::to_string).collect();
                let list = if seen { format!("[{}]", list.join(" ")) } else { "nil".to_owned() };
                format!("[:r {key} {list}]")
            };
            let append = act.append.iter().map(|(key, number)| format!("[:append {key} {number}]"));
            let all: Vec<String> = act.reads.iter().map(read).chain(append).collect();
            format!("[{}]", all.join(" "))
        };
        let (from, to) = (act.from.0, to.0.max(act.from.0));
        format!("{from}\t{to}\t{client}\t{word}\t{appended}\t{}\t{}\n", steps(false), steps(true))
    }

    /// All that was noted, in pages of a ledger; what is still under way has no outcome.
    pub(super) fn pages(&self, worker: u64) -> BTreeMap<u64, Vec<u8>> {
        let mut all = self.clone();
        for slot in 0..self.acts.len() {
            if self.acts[slot].running {
                all.note(self.line(slot, "open", Nanos::ZERO));
            }
        }
        let numbered = all.pages.into_iter().zip(worker << 16..);
        numbered.map(|(page, number)| (number, page.into_bytes())).collect()
    }
}

/// The fields of all lines; whatever is none of ours is passed over.
fn lines(pages: &BTreeMap<u64, Vec<u8>>) -> impl Iterator<Item = [&str; 7]> {
    let texts = pages.values().filter_map(|page| std::str::from_utf8(page).ok());
    texts.flat_map(str::lines).filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// The history as a series of maps, as Elle and its front ends read it; none where no transaction was noted.
pub fn edn(pages: &BTreeMap<u64, Vec<u8>>) -> Option<String> {
    let mut events = Vec::new();
    for (at, [from, to, client, word, _, meant, seen]) in lines(pages).enumerate() {
        let time = |text: &str| text.parse::<u64>().unwrap_or(0);
        events.push((time(from), at, client, "invoke", meant));
        let value = if word == "ok" { seen } else { meant };
        events.extend((word != "open").then_some((time(to), at, client, word, value)));
    }
    // A client's own events keep their order where times are equal.
    events.sort_by_key(|(time, at, _, word, _)| (*time, *at, *word != "invoke"));
    let told = |(index, (time, _, client, word, value)): (usize, (u64, usize, &str, &str, &str))| {
        format!("{{:index {index}, :time {time}, :process {client}, :type :{word}, :f :txn, :value {value}}}\n")
    };
    Some(events.into_iter().enumerate().map(told).collect::<String>()).filter(|text| !text.is_empty())
}

/// What was acknowledged as appended and is in no list, and what is there although its transaction failed, in words.
pub(super) fn amiss(pages: &BTreeMap<u64, Vec<u8>>, lists: &BTreeMap<i64, Vec<u64>>) -> (u64, Vec<String>) {
    let (mut kept, mut amiss) = (0, Vec::new());
    for [_, _, _, word, appended, ..] in lines(pages) {
        let Some((key, number)) = appended.split_once(' ') else { continue };
        let (Ok(key), Ok(number)) = (key.parse::<i64>(), number.parse::<u64>()) else { continue };
        let there = lists.get(&key).is_some_and(|list| list.contains(&number));
        match (word, there) {
            ("ok", true) => kept += 1,
            ("ok", false) => {
                amiss.push(format!("{number} was acknowledged as appended to list {key} and is not there"))
            }
            ("fail", true) => amiss.push(format!("{number} is in list {key}, although its transaction failed")),
            _ => {}
        }
    }
    (kept, amiss)
}
