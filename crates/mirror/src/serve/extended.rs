//! The extended protocol: statements that are prepared, bound and carried out in steps, up to a point of synchronisation.
//!
//! The one idea: steps are passed on as they come, and their answers are counted; only where the end of a transaction or a definition is
//! carried out, all answers before it are heard first.

use super::client::{Client, GATHERED, Go, Said, primary};
use super::conn::{message, put, text};
use super::words::Class;
use std::rc::Rc;

impl Client<'_> {
    pub(super) fn extended(&mut self, tag: u8) -> Go<()> {
        if self.skips {
            return Ok(());
        }
        self.leaves_aside();
        match tag {
            b'P' => {
                let (name, _) = text(self.user.body());
                let (name, said) = (name.to_owned(), Rc::new(Said::of(&self.user)));
                self.forgets_aside(&name);
                self.unnamed_aside &= !name.is_empty();
                self.prepared.insert(name, said.clone());
                if let Class::Refused(why) = said.class {
                    self.listen()?;
                    self.skips = true;
                    return self.refuse(why);
                }
            }
            b'B' => {
                if text(text(self.user.body()).1).0.is_empty() {
                    self.tells_unnamed();
                }
                let (portal, rest) = text(self.user.body());
                if let Some(said) = self.prepared.get(text(rest).0) {
                    let wraps = matches!(said.class, Class::Work | Class::Define | Class::Global);
                    self.portals.insert(portal.to_owned(), said.clone());
                    if wraps && !self.inside {
                        self.wraps();
                    }
                }
            }
            b'E' => return self.execute(),
            _ => {}
        }
        self.forward()
    }

    /// Puts a transaction around what comes.
    pub(super) fn wraps(&mut self) {
        const NAME: &str = "prony_begin";
        let out = &mut self.near.out;
        message(out, b'C', |out| {
            out.push(b'S');
            put(out, NAME);
        });
        message(out, b'P', |out| {
            put(out, NAME);
            put(out, "BEGIN");
            out.extend([0; 2]);
        });
        message(out, b'B', |out| {
            put(out, NAME);
            put(out, NAME);
            out.extend([0; 6]);
        });
        message(out, b'E', |out| {
            put(out, NAME);
            out.extend([0; 4]);
        });
        self.near.stepped = true;
        self.waits.extend([true; 4]);
        (self.inside, self.wrapped) = (true, true);
    }

    pub(super) fn forward(&mut self) -> Go<()> {
        self.near.out.extend_from_slice(self.user.raw());
        self.near.stepped = true;
        self.waits.push_back(false);
        if self.near.out.len() > GATHERED { self.listen() } else { Ok(()) }
    }

    /// Hears all that the primary answers to what was sent so far.
    pub(super) fn listen(&mut self) -> Go<()> {
        if self.waits.is_empty() {
            return Ok(());
        }
        message(&mut self.near.out, b'H', |_| {});
        self.near.flush().map_err(|source| primary(&source))?;
        while !self.waits.is_empty() {
            let tag = self.near.next().map_err(|source| primary(&source))?;
            self.hears(tag)?;
        }
        Ok(())
    }

    /// One answer of the extended protocol.
    pub(super) fn hears(&mut self, tag: u8) -> Go<()> {
        let ours = self.waits.front().copied().unwrap_or(false);
        match tag {
            b'1' | b'2' | b'3' | b'n' | b'T' | b'C' | b'I' | b's' => drop(self.waits.pop_front()),
            b'E' => {
                self.waits.clear();
                self.skips = true;
                return self.pass(tag);
            }
            _ => {}
        }
        if ours { Ok(()) } else { self.pass(tag) }
    }

    pub(super) fn execute(&mut self) -> Go<()> {
        let said = self.portals.get(text(self.user.body()).0).cloned();
        let Some(said) = said else { return self.forward() };
        if said.class == Class::Commit && self.inside {
            self.listen()?;
            if self.skips {
                return Ok(());
            }
            if self.near.status != b'E' {
                self.skips = !self.commits()?;
                return Ok(());
            }
        }
        self.forward()?;
        match said.class {
            Class::Work | Class::Local => return Ok(()),
            Class::Begin => (self.inside, self.wrapped) = (true, false),
            Class::Outside | Class::Upkeep => self.after.push(said),
            _ => {
                self.listen()?;
                if !self.skips {
                    match said.class {
                        Class::Commit => self.ended(),
                        class => self.skips = !self.follows(class, &said.sql)?,
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn synchronise(&mut self) -> Go<()> {
        // The primary may have come to its point of synchronisation already: at a commit.
        if self.near.stepped {
            message(&mut self.near.out, b'S', |_| {});
            self.near.flush().map_err(|source| primary(&source))?;
        }
        while self.near.stepped {
            let tag = self.near.next().map_err(|source| primary(&source))?;
            if tag != b'Z' {
                self.hears(tag)?;
            }
        }
        self.waits.clear();
        self.straight = false;
        let mut fine = !std::mem::take(&mut self.skips);
        if fine && self.defined {
            fine = self.follows(Class::Work, "")?;
        }
        for said in std::mem::take(&mut self.after) {
            if fine {
                self.inside = self.near.status != b'I';
                self.follows(said.class, &said.sql)?;
            }
        }
        self.finish(fine)
    }
}
