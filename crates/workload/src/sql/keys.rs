//! What a study may say of scripts.

use super::workload::Asked;
use reading::key::{Choice, Count, Text};
use reading::{AnyKey, Settings, keys};
use std::num::NonZeroU32;

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// Which scripts make the transactions, with their weights.
    SCRIPT "script": Text =
        Text("a file of pgbench's script language, `tpcb-like`, `simple-update`, `select-only`, or several as `a.sql@3 + b.sql`"),
        Is("tpcb-like");
    /// Variables of the scripts that are set from outside, as with -D.
    DEFINE "define": Text = Text("NAME=VALUE, several with `;` between"), Is("");
    /// The `:scale` of the scripts, and of the data that comes with built-in ones.
    SCALE "scale": Count = Count { min: 1, max: 1_000_000 }, Is("1");
    /// Divide the accounts of built-in scripts among so many partitions, as `pgbench -i --partitions`; 0 leaves them in
    /// one table. On private servers of PostgreSQL and MariaDB.
    PARTITIONS "partitions": Count = Count { min: 0, max: 1_000 }, Is("0");
    /// Whether a partition has a range of the accounts, or a hash of their number decides.
    PARTITION_METHOD "partition_method": Choice<bool> = Choice(&[("range", true), ("hash", false)]), Is("range");
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Asked {
    let partitions = u32::try_from(settings.get(&PARTITIONS)).ok().and_then(NonZeroU32::new);
    let by_range = settings.get(&PARTITION_METHOD);
    let partitions = partitions.map(|count| (count, by_range));
    Asked { scripts: scripts(settings), define: definitions(settings), scale: settings.get(&SCALE), partitions }
}

/// `a.sql`, or several with weights: `a.sql@3 + b.sql`.
fn scripts(settings: &mut dyn Settings) -> Vec<(String, f64)> {
    let mut scripts = Vec::new();
    for part in settings.get(&SCRIPT).split(" + ").map(str::trim) {
        let (path, weight) = match part.rsplit_once('@') {
            Some((path, weight)) => (path, weight.parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0)),
            None => (part, Some(1.0)),
        };
        match weight {
            Some(weight) if !path.is_empty() => scripts.push((path.to_owned(), weight)),
            _ => {
                settings.refuse(&SCRIPT, format!("a path, or several with weights as `a.sql@3 + b.sql`, got `{part}`"))
            }
        }
    }
    if !scripts.iter().any(|(_, weight)| *weight > 0.0) {
        settings.refuse(&SCRIPT, "at least one script with a weight above 0, got none".to_owned());
    }
    scripts
}

fn definitions(settings: &mut dyn Settings) -> Vec<(String, String)> {
    let text = settings.get(&DEFINE);
    pairs(settings, &DEFINE, &text, |part| format!("NAME=VALUE with `;` between, got `{part}`"))
}

/// `NAME=VALUE; NAME=VALUE`: each pair; what is none is refused.
pub fn pairs(
    settings: &mut dyn Settings,
    key: &dyn AnyKey,
    text: &str,
    refused: impl Fn(&str) -> String,
) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some((name, value)) => pairs.push((name.trim().to_owned(), value.trim().to_owned())),
            None => settings.refuse(key, refused(part)),
        }
    }
    pairs
}
