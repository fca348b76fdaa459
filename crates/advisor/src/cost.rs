//! What a move costs, told before it is made.
//!
//! The one idea: a table is copied under a lock that keeps everybody out, all of it goes through the log and to every replica, and it
//! takes its room twice until the end. An index can be built anew beside the old one while everybody goes on. A move costs the same whoever
//! asks: advice for one window and a balancer take it from here.

use crate::BLOCK;
use crate::advice::Piece;
use crate::gain::{Tiers, Times};
use crate::object::{Kind, Object};

observation::words! {
    /// How an object is moved.
    pub enum How {
        /// Built anew at its new place while everybody goes on, then put in place of the old one.
        Rebuild = "rebuild",
        /// Copied under a lock that keeps readers and writers out.
        Copy = "copy",
    }
}

/// What one move costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// How it is done.
    pub how: How,
    /// Seconds that it takes, by the times of both tiers.
    pub seconds: f64,
    /// Seconds of it in which nobody else reads or writes the object.
    pub locked_s: f64,
    /// Bytes that go through the log, and to every replica.
    pub log_bytes: f64,
    /// Bytes that are needed at the new place while the old one is still there.
    pub room_bytes: f64,
}

/// One object that changes its tier.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The server's own number for it.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Its name with its schema.
    pub name: String,
    /// Its size, with the TOAST that goes with it.
    pub bytes: f64,
    /// Whether it goes to the fast tier; otherwise it goes back to the slow one.
    pub to_fast: bool,
    /// Seconds of the window that sessions wait less for it once it is there; negative on the way back.
    pub saved_s: f64,
    /// What it costs.
    pub cost: Cost,
}

/// The moves that bring these pieces, and no others, to the fast tier: what makes room first, then indexes, then tables.
pub fn moves(objects: &[Object], pieces: &[Piece], taken: &[usize], tiers: &Tiers) -> Vec<Move> {
    let wanted = |at: &usize| taken.contains(at) != objects[pieces[*at].first()].known.fast;
    let mut all: Vec<Move> = (0..pieces.len())
        .filter(wanted)
        .map(|at| {
            let object = &objects[pieces[at].first()].known;
            let (to_fast, gained) = (!object.fast, pieces[at].gain.saved_s());
            Move {
                id: object.id.clone(),
                kind: object.kind,
                name: object.name.clone(),
                bytes: pieces[at].bytes,
                to_fast,
                saved_s: if to_fast { gained } else { -gained },
                cost: cost(objects, pieces, at, tiers),
            }
        })
        .collect();
    let density = |one: &Move| one.saved_s / one.bytes.max(1.0);
    let rank = |one: &Move| (one.to_fast, one.kind != Kind::Index);
    all.sort_by(|a, b| rank(a).cmp(&rank(b)).then(density(b).total_cmp(&density(a))).then(a.name.cmp(&b.name)));
    all
}

fn cost(objects: &[Object], pieces: &[Piece], at: usize, tiers: &Tiers) -> Cost {
    let object = &objects[pieces[at].first()].known;
    let (from, to) = if object.fast { (&tiers.fast, &tiers.slow) } else { (&tiers.slow, &tiers.fast) };
    let bytes = pieces[at].bytes;
    let rows = (object.kind == Kind::Index && !object.held).then(|| {
        let table = objects.iter().find(|other| Some(&other.known.id) == object.table.as_ref());
        table.map_or((bytes, from), |table| (table.known.bytes, tiers.here(table)))
    });
    Cost::of(bytes, [from, to], rows, object.logged)
}

impl Cost {
    /// What it costs to bring so many bytes from one tier to the other. An index that is built anew has the bytes of its rows beside it,
    /// and the tier on which they lie; what is copied has none.
    pub fn of(bytes: f64, [from, to]: [&Times; 2], rows: Option<(f64, &Times)>, logged: bool) -> Cost {
        let take_s = |bytes: f64, times: &Times| bytes / BLOCK * times.copied_s;
        let (how, read_s) = match rows {
            None => (How::Copy, take_s(bytes, from)),
            // An index is built from the rows, and read over once more for what changed meanwhile.
            Some((rows, times)) => (How::Rebuild, 2.0 * take_s(rows, times)),
        };
        let seconds = read_s.max(take_s(bytes, to));
        let locked_s = if how == How::Copy { seconds } else { 0.0 };
        Cost { how, seconds, locked_s, log_bytes: if logged { bytes } else { 0.0 }, room_bytes: bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::pieces;
    use crate::gain::tests::{ALL, TIERS};
    use crate::object::tests::table;

    #[test]
    fn what_makes_room_comes_first_then_indexes_and_each_move_tells_its_lock_and_log() {
        let mut index = table("an index", 1e6, &[500.0]);
        (index.known.kind, index.known.table) = (Kind::Index, Some("hot".to_owned()));
        let mut long = table("long", 4e6, &[10.0]);
        (long.known.kind, long.known.table) = (Kind::Toast, Some("hot".to_owned()));
        let mut cold = table("cold", 8e6, &[0.0]);
        (cold.known.fast, cold.known.logged) = (true, false);
        let objects = [table("hot", 16e6, &[900.0]), index, long, cold];
        let pieces = pieces(&objects, &TIERS, &ALL);
        let made = moves(&objects, &pieces, &[0, 1], &TIERS);
        let told: Vec<(&str, bool, How, f64)> =
            made.iter().map(|one| (one.name.as_str(), one.to_fast, one.cost.how, one.bytes)).collect();
        assert_eq!(
            told,
            [("cold", false, How::Copy, 8e6), ("an index", true, How::Rebuild, 1e6), ("hot", true, How::Copy, 20e6)]
        );
        assert_eq!((made[0].cost.log_bytes, made[2].cost.log_bytes), (0.0, 20e6));
        assert_eq!((made[1].cost.locked_s, made[2].cost.locked_s), (0.0, made[2].cost.seconds));
        assert!(made[0].saved_s <= 0.0 && made[2].saved_s > 0.0);
        let mut held = objects.to_vec();
        held[1].known.held = true;
        let cost = moves(&held, &pieces, &[0, 1], &TIERS)[1].cost;
        assert!(
            cost.how == How::Copy && cost.locked_s > 0.0,
            "what cannot be built anew keeps everybody out: {cost:?}"
        );
    }
}
