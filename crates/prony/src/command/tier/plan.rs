//! A plan that was written: which moves, and the one server, database and tablespace that they are for.
//!
//! The one idea: the plan is the consent. It was made by looking at one database, and fits no other.

use super::document::SCHEMA;
use super::times::Known;
use crate::failure::Failure;
use advisor::{Tiers, Times};
use database::tier::Standing;
use serde_json::Value;
use std::path::Path;

/// One move of a plan.
pub(super) struct Planned {
    pub(super) id: String,
    pub(super) name: String,
    /// Whether it is an index, which has another number once it is built anew.
    pub(super) index: bool,
    /// The number of the table of an index, as the plan lists it.
    pub(super) table: Option<String>,
    /// The tablespace or folder to which it goes; on the way back, where nothing is known of its home.
    pub(super) space: String,
    /// Whether it leaves the fast tier.
    pub(super) back: bool,
}

/// A plan.
pub(super) struct Plan {
    path: String,
    system: String,
    database: String,
    fast: (String, Option<String>),
    /// The times of both tiers by which it was made.
    pub(super) known: Known,
    pub(super) moves: Vec<Planned>,
    /// The names of all objects that were there.
    pub(super) listed: Vec<String>,
}

/// Reads a plan.
pub(super) fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display().to_string();
    let doing = format!("reading the plan `{shown}`");
    let text = system::text::read(path).map_err(|error| Failure::caused(&doing, &error))?;
    let hint = "`prony tier advise URL -o PLAN.json` writes one";
    let parsed: Value = serde_json::from_str(&text).map_err(|error| Failure::caused(&doing, &error).hint(hint))?;
    if parsed["schema"] != SCHEMA {
        return Err(Failure::new(format!("{doing}: a document `{SCHEMA}`, got `{}`", parsed["schema"])).hint(hint));
    }
    understood(shown, &parsed).ok_or_else(|| Failure::new(format!("{doing}: a part of it is missing")).hint(hint))
}

fn understood(path: String, parsed: &Value) -> Option<Plan> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tiers = &parsed["tiers"];
    // With MariaDB a tier is a folder, and that of the data has no name.
    let fast = match tiers["fast"]["oid"].as_u64() {
        None => text(&tiers["fast"]["tablespace"]).filter(|name| name.starts_with('/')),
        number => number.map(|number| number.to_string()),
    };
    let slow = tiers["slow"]["oid"].as_u64().map(|number| number.to_string());
    let planned = |one: &Value| {
        let back = one["to"].as_str()? != "fast";
        let space = if back { slow.clone() } else { fast.clone() };
        let listed = parsed["objects"].as_array().and_then(|all| all.iter().find(|object| object["id"] == one["id"]));
        Some(Planned {
            table: listed.and_then(|object| text(&object["table"])),
            id: text(&one["id"])?,
            name: text(&one["name"])?,
            index: one["kind"].as_str()? == advisor::Kind::Index.word(),
            space: space.unwrap_or_default(),
            back,
        })
    };
    let objects = parsed["objects"].as_array().into_iter().flatten();
    Some(Plan {
        path,
        listed: objects.filter_map(|object| text(&object["name"])).collect(),
        system: text(&parsed["server"]["system"])?,
        database: text(&parsed["server"]["database"])?,
        known: Known {
            tiers: Tiers { slow: times(&tiers["slow"])?, fast: times(&tiers["fast"])? },
            from: [text(&tiers["slow"]["from"])?, text(&tiers["fast"]["from"])?],
            depth: tiers["depth"].as_f64()?,
        },
        fast: (text(&tiers["fast"]["tablespace"])?, fast.clone()),
        moves: parsed["moves"].as_array()?.iter().map(planned).collect::<Option<_>>()?,
    })
}

fn times(tier: &Value) -> Option<Times> {
    let seconds = |key: &str| tier[key].as_f64().filter(|ms| *ms >= 0.0).map(|ms| ms / 1e3);
    let in_order_s = seconds("in_order_ms")?;
    // Plans of earlier versions do not say what a block of a copy takes.
    let copied_s = seconds("copied_ms").unwrap_or(in_order_s);
    Some(Times { read_s: seconds("read_ms")?, in_order_s, flush_s: seconds("flush_ms")?, copied_s })
}

impl Plan {
    /// The name of the fast tablespace.
    pub(super) fn fast(&self) -> &str {
        &self.fast.0
    }

    /// Refuses another server, database or tablespace than those that the plan was made for.
    pub(super) fn fits(&self, standing: &Standing) -> Result<(), Failure> {
        let refused = |what: &str| {
            Failure::new(format!("checking the plan `{}`: {what}", self.path))
                .hint("a plan fits the database alone that it was made for; make one here: prony tier advise URL -o PLAN.json")
        };
        if self.system != standing.system || self.database != standing.database {
            return Err(refused(&format!(
                "it is for the database {} of the server {}, and this is {} of {}",
                self.database, self.system, standing.database, standing.system
            )));
        }
        let name = self.fast();
        match (&self.fast.1, &standing.fast) {
            (Some(planned), Some(now)) if planned == now => Ok(()),
            (None, _) if self.moves.is_empty() => Ok(()),
            (None, _) => Err(refused(&format!("there was no tablespace {name} when it was made"))
                .hint(format!("make it first: CREATE TABLESPACE {name} LOCATION 'FOLDER'; the fast tier of a MariaDB is a folder: --fast /FOLDER"))),
            (Some(_), None) => Err(refused(&format!("there is no tablespace {name} any more"))),
            (Some(_), Some(_)) => Err(refused(&format!("the tablespace {name} is another one than it was"))),
        }
    }
}
