//! What of a client's transaction goes to the other node: its commit in two phases, and its definitions.

use super::client::{Client, End, Go, primary};
use super::conn::{message, put, query};
use super::words::Class;
use crate::rows::{self, quoted};
use database::{Failure, FailureKind};

/// Has a node hear how far a sequence comes.
const HEAR: &str = "SELECT prony_pair.hear($1)";

/// How often the other node is told of sequences before the client is served no more.
const TELLINGS: u32 = 3;

impl Client<'_> {
    /// A definition goes to the other node, or into the list of what it lacks.
    pub(super) fn defines(&mut self, sql: &str) -> Go<bool> {
        self.defined = false;
        let noted = match self.notes(sql, true)? {
            Ok(noted) => noted,
            Err(failure) => {
                self.fails("55000", &failure.text, "");
                return Ok(false);
            }
        };
        if let Some((path, role)) = noted {
            self.far.dirty = true;
            for text in rows::defining(sql, &path, &role) {
                self.far.text(&text);
            }
        }
        Ok(true)
    }

    /// Has the primary note a definition, which it does when the other node is away; in which schemas and as whom it is to be carried out
    /// there, when it is not.
    pub(super) fn notes(&mut self, sql: &str, inside: bool) -> Go<Result<Option<(String, String)>, Failure>> {
        let asked = format!(
            "SELECT prony_pair.note({}, current_setting('search_path'), current_user::text, {inside}), \
             current_setting('search_path'), current_user",
            quoted(sql)
        );
        Ok(self.asks(&asked)?.map(|rows| {
            let row = rows.into_iter().next().unwrap_or_default();
            match row.as_slice() {
                [mode, path, role] if mode == "1" => Some((path.clone(), role.clone())),
                _ => None,
            }
        }))
    }

    /// The same for what stands in no transaction. It is done on the primary already.
    pub(super) fn outside(&mut self, class: Class, sql: &str) -> Go<()> {
        let there = match class {
            Class::Outside => self.notes(sql, false)?.map(|noted| noted.map(|(path, _)| path)),
            _ => {
                let asked = "SELECT prony_pair.enter('a table'), current_setting('search_path')";
                self.asks(asked)?
                    .map(|rows| rows.into_iter().next().filter(|row| row[0] == "1").map(|row| row[1].clone()))
            }
        };
        let done = match there {
            Ok(None) => return Ok(()),
            Ok(Some(path)) => self.far.alone(&path, sql),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = done {
            let text = format!("it is done on node {} alone; node {}: {failure}", self.primary, self.primary.other());
            self.release();
            message(&mut self.user.out, b'N', |out| {
                for (field, value) in [(b'S', "WARNING"), (b'V', "WARNING"), (b'C', "01000"), (b'M', text.as_str())] {
                    out.push(field);
                    put(out, value);
                }
                out.push(0);
            });
        }
        Ok(())
    }

    /// Something of ours that the client hears of only when it fails; whether it did not.
    pub(super) fn command(&mut self, sql: &str) -> Go<bool> {
        query(&mut self.near.out, sql);
        self.near.flush().map_err(|source| primary(&source))?;
        let mut fine = true;
        loop {
            let tag = self.near.next().map_err(|source| primary(&source))?;
            match tag {
                b'Z' => return Ok(fine),
                b'C' | b'T' | b'D' => {}
                b'E' => {
                    fine = false;
                    self.held.clear();
                    self.user.out.extend_from_slice(self.near.raw());
                }
                _ => self.pass(tag)?,
            }
        }
    }

    /// Commits or prepares the transaction that is open, once the primary found that all of it was told.
    fn closes(&mut self, sql: &str) -> Go<bool> {
        let done = self.command(&format!("SELECT prony_pair.whole_told(); {sql}"))?;
        if !done && self.near.status != b'I' {
            self.asks("ROLLBACK")?.err();
        }
        Ok(done)
    }

    /// Commits the transaction that is open, on both nodes where it changed something; whether it is committed. If not, that is told.
    pub(super) fn commit(&mut self) -> Go<bool> {
        if self.noted {
            let settled = rows::send::settle(&mut self.near, &mut self.far);
            if let Err(failure) = settled {
                self.asks("ROLLBACK")?.err();
                self.undone(&failure);
                return Ok(false);
            }
            self.noted = false;
        }
        if !self.far.dirty {
            return Ok(self.closes("COMMIT")? && self.tells_sequences()?);
        }
        if !self.readable {
            self.asks("ROLLBACK")?.err();
            self.fails("0A000", "a pair is written in UTF-8 alone", "SET client_encoding = UTF8");
            return Ok(false);
        }
        self.commits += 1;
        let gid = format!("{}{}_{}_{}", rows::PREPARED, self.process, std::process::id(), self.commits);
        // The other node works on it, while the first makes it durable.
        let sent = self.far.send();
        if sent.is_ok() && !self.closes(&format!("PREPARE TRANSACTION '{gid}'"))? {
            return Ok(false);
        }
        if let Err(failure) = sent {
            self.asks("ROLLBACK")?.err();
            self.undone(&failure);
            return Ok(false);
        }
        let late = self.noted;
        if let Err(failure) = self.far.prepare(&gid) {
            if failure.kind == FailureKind::Lost {
                // It may be prepared there all the same.
                self.asks(&format!("SELECT prony_pair.undone('{gid}')"))?.err();
            }
            self.command(&format!("ROLLBACK PREPARED '{gid}'"))?;
            self.undone(&failure);
            return Ok(false);
        }
        self.shared.remember(&mut self.telling);
        if late {
            self.asks(&format!("SELECT prony_pair.undone('{gid}')"))?.err();
            self.command(&format!("ROLLBACK PREPARED '{gid}'"))?;
            // One that does not hear it undoes it later.
            let _ = self.far.end("ROLLBACK", &gid);
            self.fails(
                "0A000",
                "a trigger changed rows at the commit itself",
                "say SET CONSTRAINTS ALL IMMEDIATE before COMMIT",
            );
            return Ok(false);
        }
        if !self.command(&format!("COMMIT PREPARED '{gid}'"))? {
            return Ok(false);
        }
        self.last_commit = Some(gid.clone());
        if self.far.end("COMMIT", &gid).is_err() {
            self.aside.iter_mut().for_each(|aside| aside.lacks = Some(gid.clone()));
            // It is prepared there, and is committed by who comes next.
            self.shared.trouble();
        }
        Ok(true)
    }

    /// The transaction used a sequence. How far that comes goes to the other node, unless that is known to have heard it.
    pub(super) fn used(&mut self, telling: [String; 2]) {
        if !self.shared.has_told(&telling[1]) {
            self.far.put(HEAR, &telling[0]);
            self.telling.push(telling);
        }
    }

    /// The other node hears of the sequences that a transaction used, before the client hears that it is committed: it changed nothing else.
    fn tells_sequences(&mut self) -> Go<bool> {
        for _ in 0..TELLINGS {
            if self.telling.is_empty() || self.far.commit().is_ok() {
                self.shared.remember(&mut self.telling);
                return Ok(true);
            }
            let silent = self.far.silent.then_some(self.primary.other());
            self.far.undo();
            self.shared.looked(silent);
            // A take-over from a primary that goes on alone names its sequences.
            if self.shared.home.record().ok().flatten().is_some_and(|record| !record.waits) {
                return Ok(true);
            }
            self.telling.iter().for_each(|[said, _]| self.far.put(HEAR, said));
        }
        let says = format!(
            "it is committed on node {}, and node {} did not hear how far its sequences came",
            self.primary,
            self.primary.other()
        );
        Err(End::Told("57P01", says))
    }

    /// Tells that a transaction was undone because the other node did not take it.
    pub(super) fn undone(&mut self, failure: &Failure) {
        let (here, there) = (self.primary, self.primary.other());
        let silent = self.far.silent.then_some(there);
        self.far.undo();
        if failure.kind != FailureKind::Lost {
            let code = if failure.retryable() { "40001" } else { "55000" };
            self.fails(
                code,
                &format!("node {there} did not take what node {here} took: {failure}"),
                "compare both: prony pair check",
            );
            return;
        }
        self.shared.looked(silent);
        let says =
            format!("node {there} does not answer, so that the transaction was undone on node {here}: {failure}");
        // A node that is busy for longer than that is taken for lost, and found again when somebody looks.
        let hint = format!(
            "try it again: what changes without node {there} is noted; where that node is up, and busy for so long, give `prony pair serve` \
             more --patience"
        );
        self.fails("40001", &says, &hint);
    }
}
