//! The paths of a link: which one a connection takes, and what goes on over another.
//!
//! The one idea: a cut path is silent. What was on its way comes later, over another path or when this one is healed, as a sender
//! would send it again; nobody is told that it is cut.

use crate::lane::Lane;
use study::Wire;
use units::Nanos;

/// Which path a new connection takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The first that carries.
    #[default]
    Priority,
    /// The one with the fewest connections.
    Balance,
}

/// Which way: towards the far node, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    There,
    Back,
}

/// One path.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) shape: Wire,
    /// Whether it carries there, and back.
    carries: [bool; 2],
    /// When it ceased to carry.
    cut: Nanos,
    lanes: [Lane; 2],
    pub(crate) connections: usize,
}

impl Path {
    pub(crate) fn carries(&self, way: Way) -> bool {
        self.carries[way as usize]
    }
}

/// What a path has to say for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// As it was asked for.
    pub shape: Wire,
    /// Whether it carries towards the far node, and back.
    pub carries: [bool; 2],
    /// Connections that take it.
    pub connections: usize,
}

/// All paths.
#[derive(Debug)]
pub(crate) struct Paths {
    pub(crate) all: Vec<Path>,
    choice: Choice,
    /// How long a sender waits before it sends again over another path.
    failover: Nanos,
}

/// Where a piece is, and when it arrives there; never while no path carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Travel {
    pub(crate) path: usize,
    pub(crate) due: Option<Nanos>,
}

impl Paths {
    pub(crate) fn new(shapes: &[Wire], choice: Choice, failover: Nanos, seed: u64) -> Paths {
        let path = |(number, shape): (usize, &Wire)| Path {
            shape: *shape,
            carries: [true; 2],
            cut: Nanos::ZERO,
            lanes: [0, 1].map(|way| Lane::new(seed ^ (2 * number as u64 + way))),
            connections: 0,
        };
        Paths { all: shapes.iter().enumerate().map(path).collect(), choice, failover }
    }

    /// The path of a new connection: one that carries both ways, if there is one.
    pub(crate) fn choose(&self) -> usize {
        let whole = |path: &&(usize, &Path)| path.1.carries == [true; 2];
        let all: Vec<(usize, &Path)> = self.all.iter().enumerate().collect();
        let chosen = match self.choice {
            Choice::Priority => all.iter().find(whole),
            Choice::Balance => all.iter().filter(whole).min_by_key(|(_, path)| path.connections),
        };
        chosen.map_or(0, |(number, _)| *number)
    }

    /// Cuts or heals both ways or one, of one path.
    pub(crate) fn set(&mut self, now: Nanos, number: usize, carries: [bool; 2]) {
        let path = &mut self.all[number];
        if path.carries == [true; 2] && carries != [true; 2] {
            path.cut = now;
        }
        path.carries = carries;
    }

    /// Whether a piece of that path and way needs no clock.
    pub(crate) fn is_plain(&self, number: usize, way: Way) -> bool {
        let path = &self.all[number];
        path.shape.is_plain() && path.carries[way as usize]
    }

    /// Sends a piece of so many bytes at `now`, over `path` if it carries.
    pub(crate) fn send(&mut self, now: Nanos, path: usize, way: Way, bytes: usize) -> Travel {
        if self.all[path].carries[way as usize] {
            return self.sent(now, path, way, bytes);
        }
        // A sender notices after a while that nothing is confirmed, and takes another path.
        let resent = now.max(self.all[path].cut + self.failover);
        match self.all.iter().position(|path| path.carries == [true; 2]) {
            Some(other) => self.sent(resent, other, way, bytes),
            None => Travel { path, due: None },
        }
    }

    fn sent(&mut self, now: Nanos, number: usize, way: Way, bytes: usize) -> Travel {
        let path = &mut self.all[number];
        let due = path.lanes[way as usize].arrival(now, bytes, &path.shape);
        Travel { path: number, due: Some(due) }
    }

    /// Whether a piece that was sent still arrives as it was to.
    pub(crate) fn holds(&self, travel: Travel, way: Way) -> bool {
        let path = &self.all[travel.path];
        travel.due.is_some_and(|due| path.carries[way as usize] || due <= path.cut)
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.all
            .iter()
            .map(|path| Told { shape: path.shape, carries: path.carries, connections: path.connections })
            .collect()
    }
}

#[cfg(test)]
#[path = "tests/path.rs"]
mod tests;
