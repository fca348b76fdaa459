//! Keys of layouts.

use super::domain::Said;
use super::group;
use crate::{Folder, Tier, Way};
use observation::Footprint;
use reading::key::{Choice, Domain, Flag, Span, Text};
use reading::{Entry, Form};
use units::{Bytes, Nanos};

const TIER: Choice<Tier> = Choice(Tier::WORDS);

group! { PLACING, Placing;
    /// Which data of a private server, or of SQLite, lies on which of the two tiers. A list behind `--set` makes a
    /// system of each, all from one fill.
    Never LAYOUT "layout": Text = Text("a name: `all-slow`, `all-fast`, `log-apart`, `log-fast`, `hot-fast`, `indexes-fast`, or of a \
         `[layout.NAME]`"), Follows("(none: everything lies in the folder of the server)");
    /// The slow tier: a folder that is empty, or holds only what Prony placed there.
    Never SLOW "slow": Said<Folder> = PLACES, Follows("(none)");
    /// The fast tier, likewise.
    Never FAST "fast": Said<Folder> = PLACES, Follows("(none)");
    /// What the slow tier takes to run. The footprint of a system is its own with that of the tiers that its layout
    /// uses.
    Never SLOW_FOOTPRINT "slow_footprint": Takes = Takes, Follows("(not stated)");
    /// What the fast tier takes to run.
    Never FAST_FOOTPRINT "fast_footprint": Takes = Takes, Follows("(not stated)");
    /// Who moves data between the tiers of a private PostgreSQL while a trial runs: `balancer`, as `prony tier
    /// balance`, by SQL; `clairvoyant`, who moves each table of the workload `wander` by SQL when its time comes;
    /// `extents`, as `prony emulate tiered`, under the server. What was moved lies in its place again before the next
    /// trial.
    Never MOVER "mover": Choice<Way> = Choice(Way::WORDS), Follows("(none: what was placed stays)");
    /// Bytes of the fast tier that a mover may use.
    Never ROOM "room": Span<Bytes> = Span { min: Bytes::mib(1), max: Bytes(1 << 50) }, Is("8 MiB");
    /// How often the `balancer` decides. What it saw weighs half after as long, and a move must pay for itself within
    /// ten times that. `extents` are weighed four times as often.
    Never EVERY "every": Span<Nanos> = Span { min: Nanos::from_millis(100), max: Nanos::from_secs(86_400) }, Is("1 s");
    /// Bytes that a private PostgreSQL has beyond the `shared_buffers` of the workload's `server`: what the fast tier
    /// holds, as memory.
    Never MEMORY "memory": Span<Bytes> = Span { min: Bytes::mib(1), max: Bytes(1 << 50) }, Follows("(nothing)");
    /// Whether the kernel keeps pages of tiers on emulated devices; without, what the server does not keep itself is
    /// read from the device, as where data is many times the memory.
    Never PAGE_CACHE "page_cache": Flag = Flag, Is("true");
}

group! { LAYOUTS, Layout;
    /// Where tables lie that are not named, and whatever has no place of its own.
    Never DATA_ON "data_on": Choice<Tier> = TIER, Follows("(as the layout says)");
    /// Where indexes lie that are not named: of PostgreSQL alone, where they are files of their own.
    Never INDEXES_ON "indexes_on": Choice<Tier> = TIER, Follows("(beside the data)");
    /// Where the log lies: the write-ahead log of PostgreSQL, the redo log of MariaDB.
    Never LOG_ON "log_on": Choice<Tier> = TIER, Follows("(beside the data)");
    /// Where MariaDB keeps its undo logs.
    Never UNDO_ON "undo_on": Choice<Tier> = TIER, Follows("(beside the data)");
    /// Where temporary files and tables lie.
    Never TEMPORARY_ON "temporary_on": Choice<Tier> = TIER, Follows("(beside the data)");
    /// Tables and indexes that lie on the fast tier whatever else is said. An index is called as the server calls it:
    /// `account_pkey`.
    Never FAST_OBJECTS "fast_objects": Said<Vec<String>> = NAMES, Follows("(none)");
    /// Those that lie on the slow tier.
    Never SLOW_OBJECTS "slow_objects": Said<Vec<String>> = NAMES, Follows("(none)");
}

/// A folder, or a device that is not there.
pub(crate) const PLACES: Said<Folder> = Said {
    allowed: "a folder, or `emulated:MODEL:DIR`",
    read: |text| if text.is_empty() { Err(None) } else { Folder::read(text).map_err(Some) },
};

/// Names with blanks or commas between.
const NAMES: Said<Vec<String>> = Said { allowed: "names with blanks between", read: |text| Ok(names(text)) };

fn names(text: &str) -> Vec<String> {
    let apart = |c: char| c.is_whitespace() || c == ',';
    text.split(apart).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// What a tier takes to run: `drives=96 watts=1440`, or a table.
pub(crate) struct Takes;

impl Domain for Takes {
    type Value = Footprint;

    fn read(&self, text: &str) -> Result<Footprint, String> {
        let mut footprint = Footprint::default();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').ok_or_else(|| self.refused(text))?;
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            let number = number.ok_or_else(|| format!("a number from 0, without a unit, got `{value}`"))?;
            *footprint.get_mut(key).ok_or_else(|| self.refused(text))? = Some(number);
        }
        Ok(footprint)
    }

    fn allowed(&self) -> String {
        let names: Vec<String> = Footprint::NAMES.iter().map(|name| format!("{name}=N")).collect();
        format!("some of `{}`, or a table of these", names.join(" "))
    }

    fn spelled(&self, entries: &[Entry]) -> Option<Result<String, String>> {
        let part = |entry: &Entry| match &entry.node.form {
            Form::Text(text) => Ok(format!("{}={text}", entry.name)),
            _ => Err(format!("{}, got {}", self.allowed(), entry.node.noun())),
        };
        Some(entries.iter().map(part).collect::<Result<Vec<_>, _>>().map(|parts| parts.join(" ")))
    }
}
