//! `prony tier move` and `prony tier undo`: objects to where a plan has them, and back to where they were.
//!
//! The one idea: both are the same walk over objects, and can be repeated: what lies where it should is passed over, so that one who
//! was stopped or killed goes on.

use super::manner::{Done, Manner, tell_unfinished};
use super::sample::apart;
use super::times::{Known, known};
use super::{document, failed, open, plan, said, spec};
use crate::args::{TierManner, TierMove, TierPlace, TierUndo};
use crate::exit::Outcome as Exit;
use crate::failure::Failure;
use crate::{output, run};
use database::tier::{Kept, Mover, Outcome, Relation, Watch};
use database::{Database, DatabaseError};
use serde_json::{Value, json};
use study::DatabaseSpec;

/// One who walks over objects.
struct Walk<'a> {
    spec: &'a DatabaseSpec,
    manner: Manner,
    word: &'static str,
    done: Vec<Done>,
}

/// `prony tier move`.
pub(super) fn forth(asked: &TierMove) -> Result<Exit, Failure> {
    let plan = plan::read(&asked.plan)?;
    let (spec, database, manner) = begin(&asked.place, &asked.manner)?;
    let doing = |error| failed("moving objects of", &spec, &error);
    let mut mover = manner.mover(database.as_ref()).map_err(doing)?;
    let mut watch = Watch::open(database.as_ref(), plan.fast()).map_err(doing)?;
    let standing = watch.standing().map_err(doing)?;
    plan.fits(&standing)?;
    apart(&mut watch, &standing, &spec, plan.fast())?;
    let mut walk = Walk { spec: &spec, manner, word: "move", done: Vec::new() };
    let mut objects: Vec<(Relation, String)> = Vec::new();
    for one in &plan.moves {
        let found = mover.find(&one.id, one.index.then_some(one.name.as_str())).map_err(doing)?;
        match found {
            // An index is found by its name when it was built anew; its table still is the one of the plan.
            Some(object) if one.index && one.table.as_ref().is_some_and(|table| !object.is_of(table)) => {
                walk.tell(Done::at_once(&one.name, Outcome::Another));
            }
            Some(object) => {
                let home = if one.back { mover.home(&object).map_err(doing)? } else { None };
                let space = home.unwrap_or_else(|| one.space.clone());
                if one.back && object.space != space && standing.fast.as_ref() != Some(&object.space) {
                    let now = mover.space(&object.space).map_err(doing)?;
                    let text = format!("somebody has moved it into {now} since the plan was made");
                    walk.tell(Done::at_once(&one.name, Outcome::Refused(text)));
                    continue;
                }
                objects.push((object, space));
            }
            None => {
                let outcome = match mover.is_named(&one.name).map_err(doing)? {
                    true => Outcome::Another,
                    false => not_found(&mut mover, &plan, one).map_err(doing)?,
                };
                walk.tell(Done::at_once(&one.name, outcome));
            }
        }
    }
    let changed: Vec<Relation> =
        objects.iter().filter(|(object, space)| object.space != *space).map(|(one, _)| one.clone()).collect();
    let fast = standing.fast.unwrap_or_default();
    if !changed.is_empty() {
        mover.allowed(&changed, &fast).map_err(doing)?;
    }
    if asked.manner.dry_run {
        return walk.dry(&mut mover, asked.json, &objects, &fast, &plan.known);
    }
    if !changed.is_empty() {
        mover.prepare(&changed, &fast).map_err(doing)?;
    }
    walk.manner.tidy(&mut mover).map_err(doing)?;
    let process = mover.process;
    let went = objects.iter().try_for_each(|(object, space)| walk.one(&mut mover, object, space).map(drop));
    let went = went.and_then(|()| walk.manner.tidy(&mut mover));
    walk.end(went, process, asked.json)
}

/// `prony tier undo`.
pub(super) fn back(asked: &TierUndo) -> Result<Exit, Failure> {
    let known = known(&asked.tiers, 1.0)?;
    let (spec, database, manner) = begin(&asked.place, &asked.manner)?;
    let doing = |error| failed("undoing the moves in", &spec, &error);
    let mut mover = manner.mover(database.as_ref()).map_err(doing)?;
    let mut walk = Walk { spec: &spec, manner, word: "undo", done: Vec::new() };
    // The last that was moved goes back first.
    let kept: Vec<Kept> = mover.kept().map_err(doing)?.into_iter().rev().collect();
    let find = |mover: &mut Mover<'_>, one: &Kept| -> Result<Result<Relation, Outcome>, DatabaseError> {
        match mover.find_kept(one)? {
            Ok(object) if !asked.even_if_moved => Ok(mover.strayed(one, &object)?.map_or(Ok(object), Err)),
            found => Ok(found),
        }
    };
    if !kept.is_empty() {
        mover.writable().map_err(doing)?;
    }
    if asked.manner.dry_run {
        let mut there = Vec::new();
        for one in &kept {
            match find(&mut mover, one).map_err(doing)? {
                Ok(object) => there.push((object, one.home.clone())),
                Err(outcome) => walk.tell(Done::at_once(&one.name, outcome)),
            }
        }
        // What makes room is moved first, so that the last move went to the fast tier.
        let last = kept.iter().find_map(|one| one.place().filter(|place| *place != one.home));
        let leaves =
            || there.iter().find(|(object, home)| object.space != *home).map(|(object, _)| object.space.as_str());
        let fast = last.or_else(leaves).unwrap_or_default().to_owned();
        return walk.dry(&mut mover, asked.json, &there, &fast, &known);
    }
    mover.renew(&kept).and_then(|()| walk.manner.tidy(&mut mover)).map_err(doing)?;
    let process = mover.process;
    let went = kept.iter().try_for_each(|one| {
        let left = match find(&mut mover, one)? {
            Ok(object) => walk.one(&mut mover, &object, &one.home)?,
            Err(outcome) => {
                let done = Done::at_once(&one.name, outcome);
                let left = walk.left(&done);
                walk.tell(done);
                left
            }
        };
        if left { Ok(()) } else { mover.forget(one) }
    });
    let went = went.and_then(|()| walk.manner.tidy(&mut mover)).and_then(|left| mover.emptied().map(|()| left));
    walk.end(went, process, asked.json)
}

/// What became of something that neither its number nor its name finds. An index may have been built anew and renamed since the plan was made,
/// as one that the plan does not list.
fn not_found(mover: &mut Mover<'_>, plan: &plan::Plan, one: &plan::Planned) -> Result<Outcome, DatabaseError> {
    let Some(table) = one.table.as_ref().filter(|_| one.index) else { return Ok(Outcome::Gone) };
    let mut others = mover.indexes(table)?;
    others.retain(|name| !plan.listed.contains(name));
    Ok(if others.is_empty() { Outcome::Gone } else { Outcome::Unknown(others.join(", ")) })
}

fn begin(place: &TierPlace, manner: &TierManner) -> Result<(DatabaseSpec, Box<dyn Database>, Manner), Failure> {
    let spec = spec(place)?;
    let stop = run::listen()?;
    let manner = Manner::of(manner, stop.clone())?;
    let database = open(&spec, stop)?;
    Ok((spec, database, manner))
}

impl Walk<'_> {
    /// Brings one object to its place; whether it was left where it is.
    fn one(&mut self, mover: &mut Mover<'_>, object: &Relation, space: &str) -> Result<bool, DatabaseError> {
        if self.manner.stopped() {
            return Err(DatabaseError::Stopped);
        }
        let done = self.manner.bring(mover, object, space)?;
        let left = done.left();
        self.done.push(done);
        Ok(left)
    }

    fn tell(&mut self, done: Done) {
        output::note_line(&done.says());
        self.done.push(done);
    }

    /// Whether an object is not where it should be. Of a plan what is gone cannot be carried out; what is gone has nothing to go back.
    fn left(&self, done: &Done) -> bool {
        done.left() || (self.word == "move" && done.outcome == Outcome::Gone)
    }

    /// How many objects were left where they were, and how many of a plan are gone; empty where there are none.
    fn lacking(&self) -> String {
        let count = |of: &dyn Fn(&Done) -> bool| self.done.iter().filter(|done| of(done)).count();
        let (left, all) = (count(&Done::left), count(&|done| self.left(done)));
        let mut told = String::new();
        if left > 0 {
            told += &format!(", {} left where they were", units::counted(left as u64, "objects"));
        }
        if all > left {
            told += &format!(", {} of the plan gone", units::counted((all - left) as u64, "objects"));
        }
        told
    }

    /// What to do about objects that somebody else has moved; nothing where there are none.
    fn next_step(&self) -> String {
        if self.done.iter().any(|done| matches!(done.outcome, Outcome::Lost(_))) {
            return "what was built anew and renamed: give it its old name and undo again; where it was dropped, \
                    `DELETE FROM prony_tier.moved WHERE name = '..'` forgets it\n"
                .to_owned();
        }
        if !self.done.iter().any(|done| matches!(done.outcome, Outcome::Elsewhere { .. })) {
            return String::new();
        }
        format!(
            "what somebody has moved since: `prony tier undo {} --even-if-moved` puts it back all the same; where it is to stay, \
             `DELETE FROM prony_tier.moved WHERE name = '..'` forgets it\n",
            self.spec.copied()
        )
    }

    /// What would be done, and what it costs as the objects are now: a plan may have been written by anybody. What would be left where it
    /// is is told as when it is tried.
    fn dry(
        mut self,
        mover: &mut Mover<'_>,
        as_json: bool,
        objects: &[(Relation, String)],
        fast: &str,
        known: &Known,
    ) -> Result<Exit, Failure> {
        let looking = |error| failed("looking at objects of", self.spec, &error);
        let (mut wanted, mut lines, mut before): (Vec<Value>, String, Vec<_>) = Default::default();
        for (object, space) in objects.iter().filter(|(object, space)| object.space != *space) {
            let name = object.kept.name.as_str();
            if let Some(why) = mover.forbidden(object, space).map_err(looking)? {
                let done = Done::at_once(name, Outcome::Refused(why));
                output::note_line(&done.says());
                self.done.push(done);
                continue;
            }
            let (bytes, cost) = mover.cost(object, space, fast, &known.tiers, &before);
            before.push((object.clone(), space.clone()));
            let (size, says) = (units::bytes(units::Bytes(bytes as u64)), said::cost(self.spec.engine, &cost));
            let to = mover.space(space).map_err(looking)?;
            lines += &format!("would move {}: {size} into {to}\n    {says}\n", output::on_one_line(name));
            wanted.push(json!({
                "name": name, "outcome": "would-move", "bytes_before": bytes, "cost": document::cost(&cost), "says": says,
            }));
        }
        let json = || {
            let list: Vec<_> = self.done.iter().map(Done::json).chain(wanted.iter().cloned()).collect();
            json!({ "schema": "prony/tier-move/1", "did": self.word, "dry_run": true, "objects": list })
        };
        let text = || match lines.as_str() {
            "" => format!("nothing would be moved{}\n{}", self.lacking(), self.next_step()),
            lines => format!("{lines}{}\n{}", said::times(known), self.next_step()),
        };
        output::answer(as_json, json, text)?;
        Ok(if self.done.iter().any(|done| self.left(done)) { Exit::Failed } else { Exit::Fine })
    }

    /// Tells how it ended.
    fn end(self, went: Result<Vec<String>, DatabaseError>, process: u32, as_json: bool) -> Result<Exit, Failure> {
        let moved = self.done.iter().filter(|done| matches!(done.outcome, Outcome::Moved { .. })).count();
        let (word, copied) = (self.word, self.spec.copied());
        let unfinished = went.map_err(|error| self.broken(moved, process, &error))?;
        tell_unfinished(&unfinished);
        let left = self.done.iter().filter(|done| self.left(done)).count();
        let json = || {
            let objects: Vec<_> = self.done.iter().map(Done::json).collect();
            json!({ "schema": "prony/tier-move/1", "did": word, "dry_run": false, "objects": objects })
        };
        let text = || {
            let count = |n: usize| units::counted(n as u64, "objects");
            let tried = |done: &Done| {
                done.left()
                    && !matches!(done.outcome, Outcome::Elsewhere { .. } | Outcome::Another | Outcome::Unknown(_))
            };
            let again = if self.done.iter().any(tried) { "; the same command tries them again" } else { "" };
            let there = match (word, moved, left) {
                ("undo", 0, 0) => "nothing to undo: prony tier moved nothing that is still there\n".to_owned(),
                ("move", 0, 0) if self.done.is_empty() => {
                    "the plan has no moves: its advice found no benefit, and nothing was done\n".to_owned()
                }
                (_, _, 0) => format!("{} moved; everything lies where it should\n", count(moved)),
                _ => format!("{} moved{}{again}\n", count(moved), self.lacking()),
            };
            let undo = if word == "move" && moved > 0 {
                format!("`prony tier undo {copied}` puts everything back\n")
            } else {
                String::new()
            };
            there + &undo + &self.next_step()
        };
        output::answer(as_json, json, text)?;
        Ok(if left == 0 && unfinished.is_empty() { Exit::Fine } else { Exit::Failed })
    }

    /// Tells what kept it from its end, once the server has ended it too.
    fn broken(&self, moved: usize, process: u32, error: &DatabaseError) -> Failure {
        let (word, shown, copied) = (self.word, self.spec.shown(), self.spec.copied());
        let doing = format!("after {} of `prony tier {word}` in", units::counted(moved as u64, "moves"));
        // A server that is gone itself is told by the error; what it left unfinished, the next one drops.
        let _ = self.manner.clear_away(self.spec, process);
        let failure = match error {
            DatabaseError::Stopped => Failure::new(format!("{doing} `{shown}`: stopped")),
            error => failed(&doing, self.spec, error),
        };
        failure
            .hint(format!("what was moved is whole; `prony tier {word} {copied}` with the same options goes on"))
            .hint(format!("`prony tier undo {copied}` puts everything back"))
    }
}
