//! What a disk is made of: its seek curve, its zones, and where each byte lies.

use crate::asked::Values;

/// Which of those that wait is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one that came first.
    Fifo,
    /// The one that the arm and the platter reach first.
    Nearest,
}

/// The time of a move of the arm: `settle` for any; a square root while it speeds up; a line when it has its full speed
/// (Ruemmler and Wilkes, An introduction to disk drive modeling, IEEE Computer 1994).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seek {
    /// Nanoseconds of the shortest move, and of a change of the head.
    pub settle_ns: f64,
    /// Nanoseconds more at the end of the square root.
    pub root_ns: f64,
    /// Nanoseconds more for a move over all cylinders.
    pub line_ns: f64,
    /// Share of all cylinders up to which the root holds.
    pub bend: f64,
}

impl Seek {
    /// Nanoseconds for a move over this share of all cylinders.
    #[inline]
    pub fn ns(&self, share: f64) -> f64 {
        if share <= 0.0 {
            return 0.0;
        }
        let root = self.root_ns * libm::sqrt(share.min(self.bend) / self.bend);
        self.settle_ns + root + self.line_ns * ((share - self.bend) / (1.0 - self.bend)).max(0.0)
    }
}

/// Parts and their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Cylinders, all zones together.
    pub cylinders: u32,
    /// Surfaces with a head each.
    pub heads: u32,
    /// Zones of equally many cylinders.
    pub zones: u32,
    /// Bytes of a track of the outermost and of the innermost zone.
    pub track_bytes: (f64, f64),
    /// Nanoseconds of a turn.
    pub turn_ns: u64,
    /// The seek curve.
    pub seek: Seek,
    /// The controller's time of an operation.
    pub command_ns: u64,
    /// Which is served next.
    pub order: Order,
}

/// Where a byte lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Cylinder, from the outside.
    pub cylinder: u32,
    /// Nanoseconds of a turn at which it passes the head.
    pub angle_ns: f64,
    /// Nanoseconds that a byte takes to pass the head.
    pub byte_ns: f64,
    /// Bytes from there to the end of the track.
    pub left: f64,
    /// Whether the track is the last of its cylinder.
    pub last_head: bool,
}

/// A disk that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// A part that there must be at least one of.
    #[error("a disk has at least one of its {0}; write a number from 1")]
    Parts(&'static str),
    /// A time or a size that is none.
    #[error("the {0} of a disk is a positive number, got {1}")]
    Number(&'static str, f64),
}

impl Shape {
    /// The disk that the parameters describe, with its queue served in this order.
    pub fn of(values: &Values, order: Order) -> Shape {
        let ns = |name: &str| 1e6 * values.of(name);
        let turn_ns = 60e9 / values.of("turns");
        let track = |name: &str| values.of(name) * 1e6 * turn_ns / 1e9;
        let bend = values.of("seek_bend") / 100.0;
        Shape {
            cylinders: values.of("cylinders") as u32,
            heads: values.of("heads") as u32,
            zones: values.of("zones") as u32,
            track_bytes: (track("outer_speed"), track("inner_speed")),
            turn_ns: turn_ns as u64,
            seek: Seek { settle_ns: ns("settle"), root_ns: ns("seek_root"), line_ns: ns("seek_line"), bend },
            command_ns: (1e3 * values.of("command_time")) as u64,
            order,
        }
    }

    /// Refuses what cannot be.
    ///
    /// # Errors
    /// For a part that is missing and for a time or a size that is none.
    pub fn check(&self) -> Result<(), Refused> {
        for (part, count) in [("cylinders", self.cylinders), ("heads", self.heads), ("zones", self.zones)] {
            if count == 0 {
                return Err(Refused::Parts(part));
            }
        }
        if self.cylinders < self.zones {
            return Err(Refused::Parts("cylinders in each zone"));
        }
        let numbers = [
            ("outer track", self.track_bytes.0),
            ("inner track", self.track_bytes.1),
            ("turn", self.turn_ns as f64),
            ("settling", self.seek.settle_ns),
            ("bend of the seek curve", self.seek.bend),
            ("rest behind the bend of the seek curve", 1.0 - self.seek.bend),
        ];
        let wrong = numbers.into_iter().find(|(_, value)| !value.is_finite() || *value <= 0.0);
        wrong.map_or(Ok(()), |(what, value)| Err(Refused::Number(what, value)))
    }

    /// Bytes of a track of a zone.
    pub fn track(&self, zone: u32) -> f64 {
        let (outer, inner) = self.track_bytes;
        let share = if self.zones > 1 { f64::from(zone) / f64::from(self.zones - 1) } else { 0.0 };
        libm::floor(outer + (inner - outer) * share).max(1.0)
    }

    /// Bytes of a zone.
    pub fn zone(&self, zone: u32) -> u64 {
        self.track(zone) as u64 * u64::from(self.heads) * u64::from(self.cylinders / self.zones)
    }

    /// Bytes of the disk.
    pub fn capacity(&self) -> u64 {
        (0..self.zones).map(|zone| self.zone(zone)).sum()
    }

    /// Where a byte lies. Tracks begin later by as much as the platter turns while the head or the arm settles on them, so
    /// that going on to the next track waits for no further turn.
    pub fn place(&self, offset: u64) -> Place {
        let (mut left, mut zone) = (offset % self.capacity(), 0);
        while left >= self.zone(zone) {
            left -= self.zone(zone);
            zone += 1;
        }
        let track = self.track(zone) as u64;
        let (number, within) = (left / track, left % track);
        let before = u64::from(zone) * u64::from(self.cylinders / self.zones) * u64::from(self.heads);
        let byte_ns = self.turn_ns as f64 / track as f64;
        let skew = (before + number) as f64 * self.switch_ns();
        Place {
            cylinder: ((before + number) / u64::from(self.heads)) as u32,
            angle_ns: libm::fmod(skew + within as f64 * byte_ns, self.turn_ns as f64),
            byte_ns,
            left: (track - within) as f64,
            last_head: (number + 1) % u64::from(self.heads) == 0,
        }
    }

    /// Nanoseconds of a step to the next track, by head or by arm.
    pub fn switch_ns(&self) -> f64 {
        self.seek.ns(1.0 / f64::from(self.cylinders))
    }

    /// Nanoseconds from `now` with the arm over a cylinder until a place is under the head, and to the cylinder alone.
    #[inline]
    pub fn reach_ns(&self, now: f64, arm: u32, place: &Place) -> f64 {
        let moved = self.seek.ns(f64::from(arm.abs_diff(place.cylinder)) / f64::from(self.cylinders));
        let turn = self.turn_ns as f64;
        let at = libm::fmod(now + moved, turn);
        let wait = place.angle_ns - at;
        moved + if wait < -1.0 { wait + turn } else { wait.max(0.0) }
    }
}
