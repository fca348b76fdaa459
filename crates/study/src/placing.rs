//! From the keys of a system to its layout, and what is refused of it.
//!
//! The one idea: a layout that ships, one of the study and single keys are layers; the last that says where something lies wins.
//! What the layout then needs (a folder for each tier that it uses, objects that the data set has) is held against what there is.
//!
//! What it does not do: whether folders are there, empty and apart says the survey.

use crate::experiment::{Chosen, SystemChoice, find};
use crate::keys::Group;
use crate::keys::layout::{
    DATA_ON, EVERY, FAST, FAST_FOOTPRINT, FAST_OBJECTS, INDEXES_ON, LAYOUT, LOG_ON, MEMORY, MOVER, PAGE_CACHE, ROOM,
    SLOW, SLOW_FOOTPRINT, SLOW_OBJECTS, TEMPORARY_ON, UNDO_ON,
};
use crate::point::Point;
use crate::proof;
use crate::{At, DatabaseSpec, Engine, Folder, Layout, Moving, Place, Stream, SystemSpec, Tier, TierFolder, Way};
use observation::Footprint;
use reading::key::{Choice, Default, Domain};
use reading::{AnyKey, Follows, Key, Origin, Problems, known_names, listed};
use units::Bytes;
use workload::dataset::Table;
use workload::wander;

/// The kinds of data, in the order of their keys.
static ON: [&Key<Choice<Tier>, Follows>; 5] = [&DATA_ON, &INDEXES_ON, &LOG_ON, &UNDO_ON, &TEMPORARY_ON];

/// Where each kind of data lies, as far as that is said; the others lie with the data.
type Lies = [Option<Tier>; ON.len()];

/// The layouts that ship.
const SHIPPED: [(&str, Lies); 6] = [
    ("all-slow", [Some(Tier::Slow), None, None, None, None]),
    ("all-fast", [Some(Tier::Fast), None, None, None, None]),
    ("log-apart", [Some(Tier::Fast), None, Some(Tier::Slow), None, None]),
    ("log-fast", [Some(Tier::Slow), None, Some(Tier::Fast), None, None]),
    (HOT, [Some(Tier::Slow), None, None, None, None]),
    ("indexes-fast", [Some(Tier::Slow), Some(Tier::Fast), None, None, None]),
];

/// The layout of which the user names the objects.
const HOT: &str = "hot-fast";

/// A table `[layout.NAME]` with its values.
pub(crate) struct Named {
    pub name: String,
    pub settings: Vec<Chosen>,
}

/// Whether a `--set` of a key of layouts is meant for a system.
pub(crate) fn meant(spec: &SystemSpec) -> bool {
    matches!(&spec.place, Place::Database(database) if database.engine != Engine::Null)
}

/// Whether a key says where data lies.
pub(crate) fn places(group: Group) -> bool {
    matches!(group, Group::Placing | Group::Layout)
}

/// A system for each value of a list that a key has, such as layouts; each is called after its own.
pub(crate) fn apart(systems: Vec<SystemChoice>, key: &dyn AnyKey) -> Vec<SystemChoice> {
    let each = |system: SystemChoice| {
        let last = find(&system.settings, key).map(|chosen| chosen.at.clone());
        let of_list = |chosen: &&Chosen| chosen.key.is(key) && Some(&chosen.at) == last.as_ref();
        let levels: Vec<Chosen> = system.settings.iter().filter(of_list).cloned().collect();
        if levels.len() < 2 {
            return vec![system];
        }
        let alone = |level: Chosen| {
            let mut one = system.clone();
            one.spec.name = format!("{} {}", system.spec.name, level.text);
            one.settings.push(level);
            one
        };
        levels.into_iter().map(alone).collect()
    };
    systems.into_iter().flat_map(each).collect()
}

/// Gives every system its layout, where it has one. A study of which the command line still says nothing may leave folders, layout
/// and hot objects to it, and has no layout until then. `steps` says that layouts of that name are steps of an advice.
pub(crate) fn settle(
    systems: &mut [SystemChoice],
    named: &[Named],
    (whole, steps): (bool, bool),
    problems: &mut Problems,
) {
    for system in systems.iter_mut() {
        let Some(first) = system.settings.iter().find(|chosen| places(chosen.key.group)) else { continue };
        let (first, name) = ((first.at.clone(), first.key.name()), system.spec.name.clone());
        let Place::Database(DatabaseSpec { engine, at: At::Local | At::Cache, .. }) = system.spec.place else {
            let got = match &system.spec.place {
                Place::Database(spec) => spec.shown(),
                place => place.word().to_owned(),
            };
            let message = format!(
                "a layout places what Prony makes itself: systems `local:postgres`, `local:mariadb` and `sqlite:`, got `{got}`"
            );
            problems.add(&first.0, &format!("system.{name}.{}", first.1), message);
            continue;
        };
        let settler = Settler { system, engine, named, whole, steps, problems };
        if let Some((layout, footprint)) = settler.layout()
            && let Place::Database(spec) = &mut system.spec.place
        {
            spec.layout = Some(layout);
            system.spec.footprint = system.spec.footprint.with(&footprint);
        }
    }
}

/// What single keys go before: a name, where data lies, and the settings of the study's own layout.
type Base<'a> = (String, Lies, &'a [Chosen]);

struct Settler<'a, 'p> {
    system: &'a SystemChoice,
    engine: Engine,
    named: &'a [Named],
    /// Whether the command line has said what it says.
    whole: bool,
    /// Whether the study holds an advice against its promise.
    steps: bool,
    problems: &'p mut Problems,
}

impl<'a> Settler<'a, '_> {
    /// The layout, and what the tiers take that it uses.
    fn layout(mut self) -> Option<(Layout, Footprint)> {
        let (mut name, base, layer) = self.base()?;
        let hot = name == HOT;
        let own = self.system.settings.as_slice();
        let said: Lies = std::array::from_fn(|at| value(own, ON[at]).or(base[at]));
        let data = said[0].unwrap_or(Tier::Slow);
        let [_, indexes, log, undo, temporary] = said.map(|tier| tier.unwrap_or(data));
        let [fast, slow] =
            [&FAST_OBJECTS, &SLOW_OBJECTS].map(|key| value(own, key).or_else(|| value(layer, key)).unwrap_or_default());
        if let Some(twice) = slow.iter().find(|name| fast.contains(name)) {
            self.refuse(&SLOW_OBJECTS, &format!("every object on one tier, got `{twice}` on both"), "");
        }
        let named = |names: Vec<String>, tier| names.into_iter().map(move |name| (name, tier));
        let objects = named(fast, Tier::Fast).chain(named(slow, Tier::Slow)).collect();
        for changed in
            own.iter().filter(|chosen| chosen.key.group == Group::Layout && !(hot && chosen.key.is(&FAST_OBJECTS)))
        {
            let before = if name.is_empty() { "" } else { " " };
            name.push_str(&format!("{before}{}={}", changed.key.name(), changed.text));
        }
        let [slow, fast] = [&SLOW, &FAST].map(|key| {
            let mut folder: Folder = value(own, key)?;
            folder.past_cache = folder.device.is_some() && value(own, &PAGE_CACHE) == Some(false);
            Some(Box::new(TierFolder { reached: folder.path.clone(), folder }))
        });
        let moving = self.moving();
        let extents = moving.is_some_and(|moving| moving.way == Way::Extents);
        let passing = extents || self.steps && proof::is_step(&name);
        let layout = Layout { name, data, indexes, log, undo, temporary, objects, moving, passing, slow, fast };
        if !self.complete(&layout, hot) {
            return None;
        }
        self.can(&layout);
        let takes = [(Tier::Slow, &SLOW_FOOTPRINT), (Tier::Fast, &FAST_FOOTPRINT)];
        let used = takes.into_iter().filter(|(tier, _)| layout.uses(*tier)).filter_map(|(_, key)| value(own, key));
        let used = used.fold(Footprint::default(), |sum, takes| sum.with(&takes));
        Some((layout, used))
    }

    /// Who moves what lies there, which a private PostgreSQL alone can have.
    fn moving(&mut self) -> Option<Moving> {
        let own = self.system.settings.as_slice();
        for key in [&MOVER as &dyn AnyKey, &MEMORY] {
            if self.engine != Engine::Postgres && find(own, key).is_some() {
                let got = format!("a private PostgreSQL (`local:postgres`), got `{}`", self.engine.word());
                self.refuse(key, &got, "");
            }
        }
        let (room, every) = (value(own, &ROOM), value(own, &EVERY));
        let (room, every) = (room.unwrap_or_else(|| ROOM.by_default()), every.unwrap_or_else(|| EVERY.by_default()));
        Some(Moving { way: value(own, &MOVER)?, room, every })
    }

    /// What the layout says that the system names; one folder alone takes everything.
    fn base(&mut self) -> Option<Base<'a>> {
        let own = self.system.settings.as_slice();
        let given = |key: &dyn AnyKey| find(own, key);
        let (name, at) = match (given(&LAYOUT), given(&SLOW), given(&FAST)) {
            (Some(layout), ..) => (layout.text.as_str(), &layout.at),
            (None, Some(slow), None) => ("all-slow", &slow.at),
            (None, None, Some(fast)) => ("all-fast", &fast.at),
            _ if given(&DATA_ON).is_some() => return Some((String::new(), Lies::default(), &[])),
            _ => {
                let first = own.iter().find(|chosen| places(chosen.key.group)).filter(|_| self.whole)?;
                let message = "a `layout`, or at least `data_on`, to say what lies on which tier, got none";
                let hint = Some(format!("`--set layout=NAME`: {}", listed(self.names())));
                self.problems.add_with(&first.at, &self.key(first.key.name()), message, hint);
                return None;
            }
        };
        if let Some(Named { settings, .. }) = self.named.iter().find(|named| named.name == name) {
            return Some((name.to_owned(), std::array::from_fn(|at| value(settings, ON[at])), settings));
        }
        if let Some((_, lies)) = SHIPPED.iter().find(|(known, _)| *known == name) {
            return Some((name.to_owned(), *lies, &[]));
        }
        let hint = Some(known_names(name, self.names()));
        self.problems.add_with(at, &self.key(LAYOUT.name), format!("the name of a layout, got `{name}`"), hint);
        None
    }

    fn names(&self) -> Vec<&str> {
        self.named.iter().map(|named| named.name.as_str()).chain(SHIPPED.iter().map(|(name, _)| *name)).collect()
    }

    /// Whether all is said that a run needs: the hot objects, and a folder for each tier that is used.
    fn complete(&mut self, layout: &Layout, hot: bool) -> bool {
        let nameless = hot && layout.objects.is_empty();
        let missing = |tier: &Tier| layout.uses(*tier) && layout.folder(*tier).is_none();
        let missing: Vec<Tier> = Tier::ALL.iter().copied().filter(missing).collect();
        if nameless && self.whole {
            let hint = "name them with `--set fast_objects='NAME NAME'`";
            self.refuse(&LAYOUT, "the tables and indexes that are hot, got none", hint);
        }
        for tier in missing.iter().filter(|_| self.whole) {
            let (word, on) = (tier.word(), layout.on(*tier).join(", "));
            let message = format!("a folder for what the layout `{}` puts there ({on}), got none", layout.name);
            let hint = Some(format!("give `--set {word}=DIR` or `--set {word}=emulated:MODEL:DIR`"));
            self.problems.add_with(&self.origin(&LAYOUT), &self.key(word), message, hint);
        }
        !nameless && missing.is_empty()
    }

    /// What the engine cannot lay apart.
    fn can(&mut self, layout: &Layout) {
        let Layout { data, indexes, log, undo, temporary, .. } = *layout;
        let apart = |key: &'static dyn AnyKey, at: Tier, why: &'static str| (at != data).then_some((key, at, why));
        let found = match self.engine {
            Engine::Postgres => {
                vec![apart(&UNDO_ON, undo, "PostgreSQL has no undo log: it keeps old rows in the tables")]
            }
            Engine::Mariadb => vec![apart(&INDEXES_ON, indexes, "MariaDB keeps a table and its indexes in one file")],
            Engine::Sqlite | Engine::Null => vec![
                apart(&INDEXES_ON, indexes, "SQLite keeps tables and indexes in one file"),
                apart(&LOG_ON, log, "SQLite looks for its journal beside the file, and nowhere else"),
                apart(&UNDO_ON, undo, "SQLite's journal is what it undoes with, and lies beside the file"),
                apart(&TEMPORARY_ON, temporary, "SQLite's temporary files lie in a folder of the whole process"),
            ],
        };
        for (key, at, why) in found.into_iter().flatten() {
            let message = format!("`{}`, where the data lies: {why}, got `{}`", data.word(), at.word());
            self.refuse(key, &message, "");
        }
        if self.engine == Engine::Sqlite && !layout.objects.is_empty() {
            self.refuse(&FAST_OBJECTS, "no object: SQLite keeps all of them in one file", "");
        }
    }

    fn refuse(&mut self, key: &dyn AnyKey, message: &str, hint: &str) {
        let (at, name) = (self.origin(key), self.key(key.name()));
        self.problems.add_with(&at, &name, message, Some(hint.to_owned()).filter(|hint| !hint.is_empty()));
    }

    /// Where a key was given, or else what gave the system its layout.
    fn origin(&self, key: &dyn AnyKey) -> Origin {
        let own = &self.system.settings;
        let given = find(own, key).or_else(|| find(own, &LAYOUT));
        given
            .or_else(|| own.iter().find(|chosen| places(chosen.key.group)))
            .map_or(Origin::Whole, |chosen| chosen.at.clone())
    }

    fn key(&self, key: &str) -> String {
        format!("system.{}.{key}", self.system.spec.name)
    }
}

fn value<F: Domain, D: Default>(layer: &[Chosen], key: &Key<F, D>) -> Option<F::Value>
where
    Key<F, D>: AnyKey,
{
    find(layer, key).map(|chosen| key.value(&chosen.text))
}

/// Leaves out systems with a layout of which nobody has named a tier, where others are simulated; and says which they are.
pub(crate) fn leave_out(systems: &mut Vec<SystemChoice>) -> Vec<String> {
    let given = |system: &SystemChoice, key: &dyn AnyKey| find(&system.settings, key).is_some();
    let lacks = |system: &SystemChoice| given(system, &LAYOUT) && !given(system, &SLOW) && !given(system, &FAST);
    if !systems.iter().any(|system| system.spec.place.simulated()) {
        return Vec::new();
    }
    systems.extract_if(.., |system| lacks(system)).map(|system| system.spec.name).collect()
}

/// Bytes of memory that the server of a point has beyond what its workload says.
pub(crate) fn memory(point: &Point) -> Option<Bytes> {
    value(&point.system.settings, &MEMORY)
}

/// Refuses objects that the data set of a point does not have.
pub(crate) fn fits(point: &Point, streams: &[Stream], problems: &mut Problems) {
    let Place::Database(DatabaseSpec { engine, layout: Some(layout), .. }) = &point.spec().place else { return };
    let knows =
        streams.iter().any(|stream| stream.transactions().is_some_and(|(asked, _)| wander::Spec::of(asked).is_some()));
    if layout.moving.is_some_and(|moving| moving.way == Way::Clairvoyant) && !knows {
        let given = find(&point.system.settings, &MOVER).map_or(Origin::Whole, |chosen| chosen.at.clone());
        let message = "the workload `wander`, of which it is known what is hot next, got another one";
        problems.add(&given, &format!("system.{}.mover", point.spec().name), message);
    }
    let mut refuse = |key: &dyn AnyKey, message: String, hint: Option<String>| {
        let own = &point.system.settings;
        let given = find(own, key).or_else(|| find(own, &LAYOUT)).map_or(Origin::Whole, |chosen| chosen.at.clone());
        problems.add_with(&given, &format!("system.{}.{}", point.spec().name, key.name()), message, hint);
    };
    let sets = streams.iter().filter_map(|stream| stream.transactions()?.0.data_set(false));
    let tables: Vec<Table> = sets.flat_map(|set| set.tables()).collect();
    if tables.is_empty() {
        if layout.indexes != layout.data || !layout.objects.is_empty() {
            let message =
                "a workload that brings its data set: of tables that scripts make, Prony knows nothing to place";
            refuse(&LAYOUT, message.to_owned(), None);
        }
        return;
    }
    let mut known: Vec<String> = tables.iter().map(|table| table.name.to_string()).collect();
    let indexes: Vec<String> = tables.iter().flat_map(Table::index_names).collect();
    let of_table = |name: &String| indexes.contains(name) && *engine == Engine::Mariadb;
    if *engine == Engine::Postgres {
        known.extend(indexes.iter().cloned());
    }
    for (name, tier) in layout.objects.iter().filter(|(name, _)| !known.contains(name)) {
        let why = if of_table(name) { ": MariaDB keeps an index in the file of its table" } else { "" };
        let message = format!("tables and indexes of the data set, got `{name}`{why}");
        let key: &dyn AnyKey = if *tier == Tier::Fast { &FAST_OBJECTS } else { &SLOW_OBJECTS };
        refuse(key, message, Some(known_names(name, known.iter().map(String::as_str))));
    }
}

#[cfg(test)]
mod tests {
    use crate::{At, DatabaseSpec, Overrides, Place, Study, Way};
    use units::{Bytes, Nanos};

    fn wander(settings: &[&str]) -> Result<Study, String> {
        let text = crate::shipped().iter().find(|one| one.name == "tier-wander").expect("it ships").text;
        let settings = settings.iter().map(|one| (*one).to_owned()).collect();
        let study = Study::parse("tier-wander", text).expect("a study");
        study.with(&Overrides { settings, ..Overrides::default() }).map_err(|problems| problems.to_string())
    }

    #[test]
    fn who_moves_is_measured_once_both_tiers_are_named_and_only_simulated_before() {
        let study = wander(&[]).expect("it is whole");
        assert_eq!(study.experiments().collect::<Vec<_>>(), ["a hot set that wanders"]);
        assert!(study.systems().iter().all(|system| system.place.simulated()));
        let study = wander(&["slow=emulated:disk-15k:/a", "fast=/b", "every=2s"]).expect("it is whole");
        assert_eq!(study.experiments().count(), 2);
        let moving = study.systems().iter().filter_map(|system| match &system.place {
            Place::Database(DatabaseSpec { at: At::Local, layout: Some(layout), .. }) => layout.moving,
            _ => None,
        });
        let moving: Vec<_> = moving.map(|one| (one.way, one.room, one.every)).collect();
        let every = Nanos::from_secs(2);
        assert_eq!(moving.len(), 3, "the placement that stays and the memory have none");
        assert!(moving[1..].iter().all(|one| one.1 == Bytes::mib(4) && one.2 == every), "{moving:?}");
        assert_eq!(moving.iter().map(|one| one.0).collect::<Vec<_>>(), [Way::Clairvoyant, Way::Balancer, Way::Extents]);
        for (wrong, told) in
            [("slow=/a", "a folder for what the layout"), ("stay=20s", "does not apply to any experiment")]
        {
            let refused = wander(&[wrong]).expect_err("it is refused");
            assert!(refused.contains(told), "{wrong}: {refused}");
        }
    }
}
