//! The studies that come with Prony.
//!
//! The one idea: they are files like any other, with comments that teach, compiled in so that one binary is enough.
//!
//! What it does not do: nothing in the code knows one of them by name.

/// A study that comes with Prony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them, in the order in which they are listed.
pub fn shipped() -> &'static [Shipped] {
    &[
        Shipped { name: "quick", text: include_str!("../../../studies/quick.toml") },
        Shipped { name: "flash", text: include_str!("../../../studies/flash.toml") },
        Shipped { name: "wide", text: include_str!("../../../studies/wide.toml") },
        Shipped { name: "brokerage", text: include_str!("../../../studies/brokerage.toml") },
        Shipped { name: "sql", text: include_str!("../../../studies/sql.toml") },
        Shipped { name: "replay", text: include_str!("../../../studies/replay.toml") },
        Shipped { name: "key-value", text: include_str!("../../../studies/key-value.toml") },
        Shipped { name: "brokerage-compare", text: include_str!("../../../studies/brokerage-compare.toml") },
        Shipped { name: "batch-update", text: include_str!("../../../studies/batch-update.toml") },
        Shipped { name: "bank-day", text: include_str!("../../../studies/bank-day.toml") },
        Shipped { name: "bank-night", text: include_str!("../../../studies/bank-night.toml") },
        Shipped { name: "bank-overrun", text: include_str!("../../../studies/bank-overrun.toml") },
        Shipped { name: "order-entry", text: include_str!("../../../studies/order-entry.toml") },
        Shipped { name: "warehouse", text: include_str!("../../../studies/warehouse.toml") },
        Shipped { name: "warehouse-frontier", text: include_str!("../../../studies/warehouse-frontier.toml") },
        Shipped { name: "tier", text: include_str!("../../../studies/tier.toml") },
        Shipped { name: "tier-wander", text: include_str!("../../../studies/tier-wander.toml") },
        Shipped { name: "mirror-oltp", text: include_str!("../../../studies/mirror-oltp.toml") },
        Shipped { name: "mirror-active-active", text: include_str!("../../../studies/mirror-active-active.toml") },
        Shipped { name: "mirror-commit", text: include_str!("../../../studies/mirror-commit.toml") },
        Shipped { name: "mirror-distance", text: include_str!("../../../studies/mirror-distance.toml") },
        Shipped { name: "mirror-batch", text: include_str!("../../../studies/mirror-batch.toml") },
        Shipped { name: "mirror-mix", text: include_str!("../../../studies/mirror-mix.toml") },
        Shipped { name: "mirror-copy", text: include_str!("../../../studies/mirror-copy.toml") },
        Shipped { name: "mirror-link", text: include_str!("../../../studies/mirror-link.toml") },
        Shipped { name: "mirror-outage", text: include_str!("../../../studies/mirror-outage.toml") },
        Shipped { name: "mirror-upgrade", text: include_str!("../../../studies/mirror-upgrade.toml") },
        Shipped { name: "copy", text: include_str!("../../../studies/copy.toml") },
    ]
}
