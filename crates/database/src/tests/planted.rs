//! What somebody may plant in the place of a data set so that it runs with the rights of whoever looks: each is refused before it is
//! touched, and none of it ever runs.

use super::across::{Cache, filled_with};
use crate::dataset::{DataSet, Recognised, State, recognise};
use crate::{Database, DatabaseError, OpenOptions, Profiling, Session, Texts, open};
use std::sync::Arc;
use study::{At, DatabaseSpec, Engine, Sessions};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};

fn desk() -> DataSet {
    seeded(Scale { preset: Preset::Desk, customers: 50, days: 1 }, 3)
}

fn inside(database: &dyn Database) -> Box<dyn Session> {
    database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap()
}

/// What is strange of a data set, as it is told.
fn told(database: &dyn Database, set: &DataSet) -> String {
    match recognise(database, set) {
        Err(error @ DatabaseError::Planted { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Plants and takes away each of these, which must be told with those words.
fn each_is_refused(database: &dyn Database, set: &DataSet, ways: &[(&str, &str, &str)]) {
    let mut session = inside(database);
    for (plant, words, remove) in ways {
        session.script(plant).unwrap_or_else(|failure| panic!("{plant}: {failure}"));
        let told = told(database, set);
        assert!(told.contains(words) && told.contains("was not made by Prony"), "{told}\nnot {words}");
        let listed = database.datasets().unwrap();
        assert!(matches!(&listed[..], [Err(DatabaseError::Planted { .. })]), "{plant}: {listed:?}");
        assert!(database.clear(set).is_err(), "{plant}");
        session.script(remove).unwrap_or_else(|failure| panic!("{remove}: {failure}"));
        assert_eq!(recognise(database, set).unwrap(), Recognised::Filled(State::Ready), "{remove}");
    }
}

/// `seen` notes that somebody's code ran.
const OF_POSTGRES: &str = "CREATE TABLE public.ran (n int8); CREATE FUNCTION public.seen(anyelement) RETURNS anyelement \
    LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES (1); RETURN $1; END $$; \
    CREATE FUNCTION public.fixed(int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$; \
    CREATE FUNCTION public.noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.seen(1); RETURN NEW; END $$; \
    CREATE ROLE mallory; CREATE DOMAIN public.small AS int8 CHECK (public.fixed(VALUE) < 10); CREATE SCHEMA elsewhere";

const WAYS_OF_POSTGRES: [(&str, &str, &str); 15] = [
    (
        "ALTER TABLE prony_dataset RENAME TO pd; CREATE VIEW prony_dataset AS \
         SELECT fact, public.seen(value)::varchar(200) AS value FROM pd",
        "the view prony_dataset",
        "DROP VIEW prony_dataset; ALTER TABLE pd RENAME TO prony_dataset",
    ),
    (
        "CREATE TRIGGER t BEFORE INSERT ON trade FOR EACH ROW EXECUTE FUNCTION public.noted()",
        "the trigger t on trade",
        "DROP TRIGGER t ON trade",
    ),
    (
        "CREATE RULE r AS ON UPDATE TO prony_dataset DO ALSO SELECT public.seen(1)",
        "the rule r on prony_dataset",
        "DROP RULE r ON prony_dataset",
    ),
    ("CREATE POLICY p ON trade USING (id > 0)", "the policy p on trade", "DROP POLICY p ON trade"),
    ("CREATE INDEX x ON trade (public.fixed(id))", "x, which needs function public.fixed", "DROP INDEX x"),
    ("CREATE INDEX x ON trade (id) WHERE public.fixed(id) < 0", "x, which needs function public.fixed", "DROP INDEX x"),
    (
        "ALTER TABLE trade ALTER fee_cents SET DEFAULT public.seen(1)",
        "default value for column fee_cents of table",
        "ALTER TABLE trade ALTER fee_cents DROP DEFAULT",
    ),
    (
        "ALTER TABLE trade ADD CONSTRAINT c CHECK (public.seen(id) > 0) NOT VALID",
        "constraint c on table",
        "ALTER TABLE trade DROP CONSTRAINT c",
    ),
    (
        "ALTER TABLE trade ADD COLUMN tiny public.small",
        ".trade, which needs type public.small",
        "ALTER TABLE trade DROP COLUMN tiny",
    ),
    ("CREATE TABLE elsewhere.child () INHERITS (trade)", "the inheritance of trade", "DROP TABLE elsewhere.child"),
    (
        "CREATE TABLE elsewhere.reference (id int8 REFERENCES trade ON DELETE CASCADE)",
        "to trade from another schema",
        "DROP TABLE elsewhere.reference",
    ),
    (
        "ALTER TABLE trade OWNER TO mallory",
        "the relation trade, which belongs to mallory",
        "ALTER TABLE trade OWNER TO CURRENT_USER",
    ),
    (
        "CREATE FUNCTION sum(varchar) RETURNS int8 LANGUAGE sql AS 'SELECT public.seen(1::int8)'; \
         ALTER FUNCTION sum(varchar) OWNER TO mallory",
        "the function sum, which belongs to mallory",
        "DROP FUNCTION sum(varchar)",
    ),
    (
        "DO $$ BEGIN EXECUTE format('ALTER SCHEMA %I OWNER TO mallory', current_schema()); END $$",
        "the schema, which belongs to mallory",
        "DO $$ BEGIN EXECUTE format('ALTER SCHEMA %I OWNER TO CURRENT_USER', current_schema()); END $$",
    ),
    ("CREATE MATERIALIZED VIEW m AS SELECT 1 AS n", "the materialized view m", "DROP MATERIALIZED VIEW m"),
];

#[test]
fn nothing_that_is_planted_in_a_schema_of_postgres_runs() {
    let (cache, set) = (Cache::new(Engine::Postgres), desk());
    let Some(database) = filled_with(&cache, Engine::Postgres, &set) else { return };
    inside(&*database).script(OF_POSTGRES).unwrap();
    each_is_refused(&*database, &set, &WAYS_OF_POSTGRES);
    assert!(inside(&*database).query("SELECT n FROM public.ran").unwrap().is_empty(), "planted code ran");
}

/// The same data set for another role.
fn as_role(database: &dyn Database, role: &str, set: &DataSet) -> Box<dyn Database> {
    let folder = database.private().unwrap().socket_folder();
    let url = format!("postgres://{role}@/postgres?host={}", folder.display());
    let options = OpenOptions {
        cache_dir: folder,
        dataset: Some(set.clone()),
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop: Arc::default(),
    };
    open(&DatabaseSpec::new(Engine::Postgres, At::Url(url)), &options).unwrap()
}

#[test]
fn a_role_uses_what_it_filled_itself_and_what_a_role_did_that_may_become_it() {
    let (cache, set) = (Cache::new(Engine::Postgres), desk());
    let Some(database) = filled_with(&cache, Engine::Postgres, &set) else { return };
    let name = set.schema();
    let grants = "USAGE ON SCHEMA {n} TO r; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {n} TO r";
    let grants = |role: &str| format!("GRANT {}", grants.replace("{n}", &name).replace("TO r", &format!("TO {role}")));
    let mut session = database.outside().unwrap();
    let roles = "CREATE ROLE boss LOGIN; CREATE ROLE clerk LOGIN; CREATE ROLE stranger LOGIN; GRANT clerk TO boss; \
                 GRANT CREATE ON DATABASE postgres TO boss";
    session.script(&format!("{roles}; {}", grants("clerk"))).unwrap();
    // A superuser filled it, who may become anybody.
    assert_eq!(recognise(&*as_role(&*database, "clerk", &set), &set).unwrap(), Recognised::Filled(State::Ready));
    let ours = |owner: &str| {
        format!(
            "ALTER SCHEMA {name} OWNER TO {owner}; DO $$ DECLARE t name; BEGIN \
         FOR t IN SELECT relname FROM pg_class WHERE relnamespace = '{name}'::regnamespace AND relkind = 'r' LOOP \
         EXECUTE format('ALTER TABLE {name}.%I OWNER TO {owner}', t); END LOOP; END $$"
        )
    };
    session.script(&ours("boss")).unwrap();
    session.script(&format!("{}; {}", grants("clerk"), grants("stranger"))).unwrap();
    assert_eq!(recognise(&*as_role(&*database, "boss", &set), &set).unwrap(), Recognised::Filled(State::Ready));
    assert_eq!(recognise(&*as_role(&*database, "clerk", &set), &set).unwrap(), Recognised::Filled(State::Ready));
    let strange = told(&*as_role(&*database, "stranger", &set), &set);
    assert!(strange.contains("the schema, which belongs to boss"), "{strange}");
    assert!(told(&*database, &set).contains("which belongs to boss"), "a superuser has more than its owner");
    // Before version 16 whoever makes roles may give himself any that is no superuser.
    session.script("ALTER ROLE boss CREATEROLE").unwrap();
    let version = session.one("SELECT current_setting('server_version_num')::int8").unwrap().unwrap().int().unwrap();
    assert_eq!(recognise(&*as_role(&*database, "stranger", &set), &set).is_ok(), version < 160_000);
    assert!(recognise(&*database, &set).is_err());
}

const WAYS_OF_MARIADB: [(&str, &str, &str); 5] = [
    (
        "RENAME TABLE prony_dataset TO pd; CREATE SQL SECURITY INVOKER VIEW prony_dataset AS \
         SELECT fact, evil.seen(value) AS value FROM pd",
        "the view prony_dataset",
        "DROP VIEW prony_dataset; RENAME TABLE pd TO prony_dataset",
    ),
    (
        "RENAME TABLE prony_dataset TO pd; CREATE SQL SECURITY INVOKER VIEW prony_dataset AS \
         SELECT fact, value FROM (SELECT fact, evil.seen(value) AS value FROM pd GROUP BY fact) g",
        "the view prony_dataset",
        "DROP VIEW prony_dataset; RENAME TABLE pd TO prony_dataset",
    ),
    (
        "CREATE TRIGGER t BEFORE INSERT ON trade FOR EACH ROW SET @x = evil.seen('t')",
        "the trigger t on trade",
        "DROP TRIGGER t",
    ),
    ("CREATE TABLE other (n BIGINT) ENGINE=MyISAM", "the MyISAM table other", "DROP TABLE other"),
    (
        "ALTER TABLE trade ADD COLUMN g VARCHAR(9) AS (UPPER('a')) VIRTUAL",
        "the generated column trade.g",
        "ALTER TABLE trade DROP COLUMN g",
    ),
];

#[test]
fn nothing_that_is_planted_in_a_database_of_mariadb_runs() {
    let (cache, set) = (Cache::new(Engine::Mariadb), desk());
    let Some(database) = filled_with(&cache, Engine::Mariadb, &set) else { return };
    let evil = "CREATE DATABASE evil; CREATE TABLE evil.ran (n BIGINT) ENGINE=InnoDB; \
                CREATE FUNCTION evil.seen(t VARCHAR(200)) RETURNS VARCHAR(200) MODIFIES SQL DATA SQL SECURITY INVOKER \
                BEGIN INSERT INTO evil.ran VALUES (1); RETURN t; END";
    inside(&*database).script(evil).unwrap();
    each_is_refused(&*database, &set, &WAYS_OF_MARIADB);
    assert!(inside(&*database).query("SELECT n FROM evil.ran").unwrap().is_empty(), "planted code ran");
}

#[test]
fn a_procedure_of_another_user_of_mariadb_is_made_anew_before_it_is_called() {
    let (cache, set) = (Cache::new(Engine::Mariadb), desk());
    let Some(database) = filled_with(&cache, Engine::Mariadb, &set) else { return };
    assert!(!crate::procedures::see_to(&*database, &set).unwrap(), "they came with the fill");
    let mut session = inside(&*database);
    let one =
        session.one("SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE() LIMIT 1");
    let name = one.unwrap().unwrap().text().unwrap().to_owned();
    let planted = format!(
        "CREATE USER mallory@localhost; DROP PROCEDURE {name}; \
         CREATE DEFINER = mallory@localhost PROCEDURE {name}() SQL SECURITY INVOKER SELECT 1"
    );
    session.script(&planted).unwrap();
    assert!(crate::procedures::see_to(&*database, &set).unwrap());
    let count = "SELECT count(*) FROM information_schema.routines WHERE definer LIKE 'mallory%'";
    assert_eq!(session.one(count).unwrap().unwrap().int(), Some(0));
}

#[test]
fn a_journal_of_moves_that_somebody_else_made_is_not_read() {
    use crate::tier::Mover;
    let (cache, set) = (Cache::new(Engine::Postgres), desk());
    let Some(database) = filled_with(&cache, Engine::Postgres, &set) else { return };
    let journal = "CREATE SCHEMA prony_tier; COMMENT ON SCHEMA prony_tier IS \
        'Prony: where tables and indexes lay before prony tier moved them'; \
        CREATE TABLE prony_tier.kept (in_table int8, index_name text, name text, home int8, at timestamptz); \
        INSERT INTO prony_tier.kept VALUES (1, '', 'x', 1, now());";
    let view = "CREATE VIEW prony_tier.moved AS SELECT in_table, index_name, public.seen(name) AS name, home, at FROM prony_tier.kept";
    let table = "CREATE TABLE prony_tier.moved (LIKE prony_tier.kept); CREATE TRIGGER t BEFORE INSERT ON prony_tier.moved \
        FOR EACH ROW EXECUTE FUNCTION public.noted()";
    let theirs = "CREATE TABLE prony_tier.moved (LIKE prony_tier.kept); ALTER TABLE prony_tier.moved OWNER TO mallory";
    let mut session = inside(&*database);
    session.script(OF_POSTGRES).unwrap();
    for (planted, words) in
        [(view, "the view moved"), (table, "the trigger t on moved"), (theirs, "moved, which belongs to mallory")]
    {
        session.script(&format!("{journal} {planted}")).unwrap();
        let mut mover =
            Mover::open(&*database, std::time::Duration::from_secs(1), &Default::default(), &|_| {}).unwrap();
        let told = mover.kept().unwrap_err().to_string();
        assert!(told.contains(words), "{told}");
        assert!(mover.prepare(&[], "1663").is_err() && mover.tidy().unwrap().is_empty());
        session.script("DROP SCHEMA prony_tier CASCADE").unwrap();
    }
    assert!(session.query("SELECT n FROM public.ran").unwrap().is_empty(), "planted code ran");
}
