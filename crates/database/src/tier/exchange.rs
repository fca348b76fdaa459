//! How a table of MariaDB comes to another folder: a copy is made there, and takes its place.
//!
//! The one idea: the server places a table when it is made, and never again. Writers are kept out while the copy is made, and the statement
//! that exchanges both stands in the queue before that lock is let go, so that nobody writes in between. Until then a third table has the
//! name that the exchange needs: where the one who copies is gone, so is his lock, and the exchange fails. What of these is ours is told by
//! comments, and by numbers in the journal: whoever has a table of such a name keeps it.
//!
//! What it does not do: what would not follow the table is not brought after it; the table stays where it is, and what keeps it is named.

use super::journal::{self, Kept, quoted};
use super::mover::{Outcome, Relation};
use super::{number, text};
use crate::dialect::quoted as name;
use crate::{Failure, FailureKind, Session};
use advisor::Kind;
use std::path::Path;
use std::time::Duration;
use study::Engine::Mariadb;
use workload::transaction::Value;

/// What the copy says of itself until its number is in the journal and it is whole.
const COPIES: &str = "Prony: a copy that is not whole yet";

/// What the third table says of itself.
const STANDS: &str = "Prony: stands in the way of an exchange until the copy is whole";

/// Between two looks whether the exchange waits for its lock.
const LOOK: Duration = Duration::from_millis(5);

/// A copy has the rows as they are, whatever the checks of today would say of them. Only keys are checked: without that the server loads
/// in bulk, and MariaDB 10.11.19 says that all went well when the disk is full and no row was kept.
const AS_THEY_ARE: &str = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION', foreign_key_checks = 0, \
    unique_checks = 1, check_constraint_checks = 0, time_zone = '+00:00', innodb_strict_mode = 1, sql_quote_show_create = 1, \
    max_statement_time = 0";

/// What a table is, its size, and what keeps it where it is.
const FOUND: &str = include_str!("exchange_found.sql");

/// Sets a session up; it waits for no lock longer than that, to the next second. Other servers receive nothing of a move: where a
/// table lies is each one's own business.
pub(super) fn begin(session: &mut dyn Session, lock_timeout: Duration) -> Result<(), Failure> {
    let refused = |text: &str| Err(Failure::refused(text));
    let row = session.row("SELECT version(), @@log_bin")?;
    if !text(&row, 0).contains("MariaDB") {
        return refused("tables are moved on PostgreSQL and MariaDB; this is MySQL");
    }
    let cluster = session.one(
        "SELECT variable_value FROM information_schema.global_variables WHERE variable_name = 'WSREP_ON' AND variable_value = 'ON'",
    )?;
    if cluster.is_some() {
        return refused("it is a node of a Galera cluster, whose other nodes know no lock that would keep writers out");
    }
    let seconds = lock_timeout.as_secs() + u64::from(lock_timeout.subsec_nanos() > 0);
    let log = if number(&row, 1) == 1.0 { ", sql_log_bin = 0" } else { "" };
    session.script(&format!("{AS_THEY_ARE}, lock_wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}{log}"))
}

/// A table as the names of its files have it: `shop/hot`. The id is the path of a file; a partition stands for its table.
pub(super) fn key(id: &str) -> Option<String> {
    let path = Path::new(id);
    let (file, folder) = (path.file_name()?.to_str()?, path.parent()?.file_name()?.to_str()?);
    let table = file.strip_suffix(".ibd").unwrap_or(file);
    let table = table.split_once("#P#").map_or(table, |(table, _)| table);
    // Letters beyond these are written with these.
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_@#$".contains(&byte));
    (plain(folder) && plain(table)).then(|| format!("{folder}/{table}"))
}

/// The database and the table of a key, as expressions.
fn decoded(key: &str) -> [String; 2] {
    let (folder, table) = key.split_once('/').unwrap_or_default();
    [folder, table].map(|name| format!("CONVERT(_filename'{name}' USING utf8mb4)"))
}

/// The catalogue's row of a table.
fn row(session: &mut dyn Session, key: &str) -> Result<Option<Vec<Value>>, Failure> {
    let [folder, table] = decoded(key);
    let rows = session.query(&format!("{FOUND} WHERE t.table_schema = {folder} AND t.table_name = {table}"))?;
    Ok(rows.into_iter().next())
}

/// What keeps a table where it is; empty when nothing does, or the user is not shown it.
pub(super) fn stays(session: &mut dyn Session, key: &str) -> Result<String, Failure> {
    Ok(row(session, key)?.map(|row| text(&row, 3)).unwrap_or_default())
}

/// The names of keys as statements have them: `shop.od'd` for `shop/od@0027d`.
pub(super) fn named(session: &mut dyn Session, keys: &[String]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::with_capacity(keys.len());
    for some in keys.chunks(200) {
        let each: Vec<String> = some.iter().map(|key| decoded(key).join(", '.', ")).collect();
        let each: Vec<String> = each.iter().map(|parts| format!("concat({parts})")).collect();
        let row = session.row(&format!("SELECT {}", each.join(", ")))?;
        names.extend((0..some.len()).map(|at| text(&row, at)));
    }
    Ok(names)
}

/// Bytes of a table's file; the catalogue's estimate where the user is not shown that (`PROCESS`).
fn bytes(session: &mut dyn Session, key: &str, estimate: f64) -> f64 {
    let size = format!("SELECT FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME = '{key}'");
    session.number(&size).ok().flatten().unwrap_or(estimate)
}

/// The server's number for a table, which a rename keeps; none when it is gone, or the user is not shown it (`PROCESS`).
fn number_of(session: &mut dyn Session, key: &str) -> Result<Option<String>, Failure> {
    let of = "SELECT CAST(TABLE_ID AS char) FROM information_schema.INNODB_SYS_TABLES WHERE NAME = BINARY";
    session.text(&format!("{of} '{key}'")).or_else(unseen)
}

/// The table that has a number; none when it is gone, or the user is not shown it.
pub(super) fn holder(session: &mut dyn Session, number: &str) -> Result<Option<String>, Failure> {
    let of = "SELECT NAME FROM information_schema.INNODB_SYS_TABLES WHERE CAST(TABLE_ID AS char) =";
    let name = session.text(&format!("{of} {}", quoted(Mariadb, number))).or_else(unseen)?;
    Ok(name.as_deref().and_then(key))
}

fn unseen(failure: Failure) -> Result<Option<String>, Failure> {
    if failure.kind == FailureKind::Lost { Err(failure) } else { Ok(None) }
}

/// A table of the journal as it is now, or what became of it: by its number, else by its name. One that was altered has another number and lies
/// where it lay; one in its old home may be another one that took its name.
pub(super) fn kept(session: &mut dyn Session, one: &Kept, all: &[Kept]) -> Result<Result<Relation, Outcome>, Failure> {
    // A move that was killed behind the exchange left that one.
    let left = format!("{}{}", one.table, ENDINGS[2]);
    if let Some(key) = holder(session, &one.relation)?.filter(|key| *key != left)
        && let Some(found) = found(session, &key)?
    {
        return Ok(Ok(found));
    }
    let named = found(session, &one.table)?;
    if let Some(found) = named.as_ref().filter(|found| found.space != one.home) {
        return Ok(Ok(found.clone()));
    }
    // What lies in a folder of its own and is in no line of the journal may be this one with another name.
    let sql = "SELECT NAME FROM information_schema.INNODB_SYS_TABLES WHERE FLAG & 64 AND NAME LIKE '%/%'";
    let (mut names, rows) = (Vec::new(), session.query(sql)?);
    for key in rows.iter().filter_map(|row| key(&text(row, 0))) {
        let lies = found(session, &key)?.filter(|other| {
            let known = |line: &Kept| line.table == key || line.relation == other.kept.relation;
            Some(other.space.as_str()) == one.place() && !all.iter().any(known)
        });
        names.extend(lies.map(|other| other.kept.name));
    }
    Ok(match names.is_empty() {
        true => named.ok_or(Outcome::Gone),
        false => Err(Outcome::Lost(names.join(", "))),
    })
}

/// A table as it is now; none when it is gone.
pub(super) fn found(session: &mut dyn Session, key: &str) -> Result<Option<Relation>, Failure> {
    let Some(row) = row(session, key)? else { return Ok(None) };
    let row = row.as_slice();
    let (schema, table, stays) = (text(row, 0), text(row, 1), text(row, 3));
    let sql = format!("{}.{}", name(Mariadb, &schema), name(Mariadb, &table));
    let home = match definition(session, &sql) {
        Err(_) if !stays.is_empty() => String::new(),
        defined => defined?.1,
    };
    let (name, home) = (format!("{schema}.{table}"), home);
    let relation = number_of(session, key)?.unwrap_or_default();
    let kept = Kept { table: key.to_owned(), name, home: home.clone(), relation, ..Kept::default() };
    Ok(Some(Relation {
        kept,
        kind: Kind::File,
        space: home,
        bytes: bytes(session, key, number(row, 2)),
        strange: String::new(),
        anew: false,
        logged: true,
        stays,
    }))
}

/// How a table is made, and the folder that is said there; empty for that of the data.
fn definition(session: &mut dyn Session, table: &str) -> Result<(String, String), Failure> {
    let mut said = |mode: &str| -> Result<String, Failure> {
        Ok(text(&session.row(&format!("{mode}SHOW CREATE TABLE {table}"))?, 1))
    };
    let (plain, all) = (said("SET STATEMENT sql_mode = 'NO_DIR_IN_CREATE' FOR ")?, said("")?);
    let folder = folder(&plain, &all).ok_or_else(altered)?;
    Ok((plain, folder))
}

fn altered() -> Failure {
    Failure::refused("it was altered meanwhile; the same command tries it again")
}

/// The folder that a definition says beyond one without folders; none where the two are of different tables. Writers who go on between
/// both raise the number that the next row gets.
fn folder(plain: &str, all: &str) -> Option<String> {
    let ([plain, all], behind) = ([plain, all].map(|text| unnumbered(text).0), " DATA DIRECTORY='");
    let rest = all.strip_prefix(&plain)?;
    let folder = rest.strip_prefix(behind).and_then(|rest| rest.strip_suffix('\'')).unwrap_or_default();
    Some(folder.trim_end_matches('/').to_owned())
}

/// A definition without the number that the next row gets, and that number.
fn unnumbered(definition: &str) -> (String, Option<u64>) {
    const BEFORE: &str = "\n) ENGINE=InnoDB AUTO_INCREMENT=";
    let cut = definition.rfind(BEFORE).map(|at| (&definition[..at], &definition[at + BEFORE.len()..]));
    let Some((head, rest)) = cut else { return (definition.to_owned(), None) };
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    (format!("{head}\n) ENGINE=InnoDB{}", &rest[end..]), rest[..end].parse().ok())
}

/// A table, and the two that lie beside it while it is moved: the copy, and what stands in the way and then what was. Their names come
/// behind the table's, because locks are taken in that order and the exchange has to wait for the table first.
struct Names {
    parts: [String; 2],
    all: [String; 3],
}

const ENDINGS: [&str; 3] = ["", "_prony_new", "_prony_old"];

fn names(session: &mut dyn Session, key: &str) -> Result<Names, Failure> {
    let [folder, table] = decoded(key);
    let row = session.row(&format!("SELECT {folder}, {table}"))?;
    let parts = [text(&row, 0), text(&row, 1)];
    let all = ENDINGS
        .map(|ending| format!("{}.{}", name(Mariadb, &parts[0]), name(Mariadb, &format!("{}{ending}", parts[1]))));
    Ok(Names { parts, all })
}

/// A table that is there.
struct Lies {
    comment: String,
    number: String,
}

impl Lies {
    fn is(&self, number: &str) -> bool {
        !number.is_empty() && self.number == number
    }
}

/// Which of the three are there.
fn there(session: &mut dyn Session, key: &str, names: &Names) -> Result<[Option<Lies>; 3], Failure> {
    let [schema, table] = &names.parts;
    let all = ENDINGS.map(|ending| format!("{table}{ending}"));
    let rows = session.query(&format!(
        "SELECT table_name, table_comment FROM information_schema.tables WHERE table_schema = {} AND table_name IN ({})",
        quoted(Mariadb, schema),
        all.each_ref().map(|name| quoted(Mariadb, name)).join(", ")
    ))?;
    let mut there: [Option<Lies>; 3] = Default::default();
    for (at, name) in all.iter().enumerate() {
        let Some(row) = rows.iter().find(|row| text(row, 0) == *name) else { continue };
        let number = number_of(session, &format!("{key}{}", ENDINGS[at]))?.unwrap_or_default();
        there[at] = Some(Lies { comment: text(row, 1), number });
    }
    Ok(there)
}

/// Whether the copy, and what was exchanged for it or stands in its way, are those of a move of ours that was at work.
fn ours(there: &[Option<Lies>; 3], [was, copy]: &[String; 2]) -> [bool; 2] {
    let [now, new, old] = there.each_ref().map(Option::as_ref);
    let exchanged = now.is_none_or(|now| now.is(copy));
    [
        new.is_some_and(|new| new.comment == COPIES || new.is(copy)),
        old.is_some_and(|old| old.comment == STANDS || (exchanged && old.is(was))),
    ]
}

/// What has a name that a move of a table needs; none where nothing does, but for what a move left that had these numbers.
pub(super) fn in_the_way(
    session: &mut dyn Session,
    key: &str,
    numbers: Option<[String; 2]>,
) -> Result<Option<String>, Failure> {
    let names = names(session, key)?;
    let there = there(session, key, &names)?;
    let ours = numbers.map_or([false; 2], |numbers| ours(&there, &numbers));
    let taken = (1..3).find(|at| there[*at].is_some() && !ours[at - 1]);
    Ok(taken.map(|at| {
        let taken = &names.all[at];
        format!("a move needs the name {taken} for a while, and the table that has it was not made by Prony: rename that one first")
    }))
}

/// Brings a table, of which the journal says where it lay, to a folder. `other` is a second session, for the exchange.
pub(super) fn exchange(
    session: &mut dyn Session,
    other: Box<dyn Session>,
    kept: &Kept,
    object: &Relation,
    space: &str,
) -> Result<(), Failure> {
    let (names, key) = (names(session, &object.kept.table)?, &object.kept.table);
    // Of one who was killed.
    if journal::unfinished(session, Mariadb)?.contains(key) {
        clear(session, key)?;
    }
    if let Some(taken) = in_the_way(session, key, None)? {
        return Err(Failure::refused(taken));
    }
    journal::begun(session, kept, key)?;
    let copied = copied(session, key, &names, space).and_then(|()| exchanged(session, other, &names));
    // The lock goes before what lies beside the table is cleared away; where the connection is lost it is gone.
    let let_go = session.script("UNLOCK TABLES");
    copied?;
    let_go?;
    clear(session, key)
}

/// Makes the copy, with writers kept out from before its first row.
fn copied(session: &mut dyn Session, key: &str, names: &Names, space: &str) -> Result<(), Failure> {
    let [table, new, old] = &names.all;
    let (definition_before, _) = definition(session, table)?;
    let head = format!("CREATE TABLE {}", name(Mariadb, &names.parts[1]));
    let odd = || Failure::refused("the server does not say how it is made as it is expected to");
    let rest = definition_before.strip_prefix(&head).ok_or_else(odd)?;
    let folder = if space.is_empty() { String::new() } else { format!(" DATA DIRECTORY={}", quoted(Mariadb, space)) };
    let [now, ..] = there(session, key, names)?;
    let comment = now.ok_or_else(altered)?.comment;
    let made = session.script(&format!("CREATE TABLE {new}{rest}{folder} COMMENT '{COPIES}'"));
    made.map_err(|failure| no_files(failure, space))?;
    let unseen =
        "the server does not show the number of the copy, by which it is known again: GRANT PROCESS ON *.* TO the user";
    let number = number_of(session, &format!("{key}{}", ENDINGS[1]))?;
    let number = number.ok_or_else(|| Failure::refused(unseen))?;
    journal::copies(session, key, &number)?;
    session.script(&format!("CREATE TABLE {old} (n int) ENGINE=InnoDB COMMENT '{STANDS}'"))?;
    session.script(&format!("LOCK TABLES {table} READ, {new} WRITE, {old} WRITE"))?;
    let (before, _) = unnumbered(&definition_before);
    let (now, next) = unnumbered(&definition(session, table)?.0);
    if before != now {
        return Err(altered());
    }
    let columns = session.query(&format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = {} AND table_name = {} \
         AND coalesce(generation_expression, '') = '' ORDER BY ordinal_position",
        quoted(Mariadb, &names.parts[0]),
        quoted(Mariadb, &names.parts[1])
    ))?;
    let columns = columns.iter().map(|row| name(Mariadb, &text(row, 0))).collect::<Vec<_>>().join(", ");
    session.script(&format!("INSERT INTO {new} ({columns}) SELECT {columns} FROM {table}"))?;
    let rows = session.query(&format!("SELECT count(*) FROM {table} UNION ALL SELECT count(*) FROM {new}"))?;
    if rows.first() != rows.last() {
        return Err(Failure::refused("the copy has not as many rows as the table, and was dropped"));
    }
    // Whoever asks for the table next shall find its statistics.
    session.query(&format!("ANALYZE TABLE {new}"))?;
    // One that were made anew for this would have another number.
    let next = next.map(|next| format!(", AUTO_INCREMENT = {next}")).unwrap_or_default();
    session.script(&format!("ALTER TABLE {new} COMMENT {}{next}, ALGORITHM = NOCOPY", quoted(Mariadb, &comment)))
}

/// What the server does not say of a folder in which it can make no files.
fn no_files(failure: Failure, folder: &str) -> Failure {
    if folder.is_empty() || !failure.text.contains("Can't create table") {
        return failure;
    }
    let says = format!("the folder `{folder}` has to be there, and to belong to the user of the server");
    Failure { text: format!("{}: {says}", failure.text), ..failure }
}

/// Exchanges both: the other session asks for it, and once it stands in the queue the lock is let go.
fn exchanged(session: &mut dyn Session, mut other: Box<dyn Session>, names: &Names) -> Result<(), Failure> {
    let [table, new, old] = &names.all;
    let process = other.one("SELECT connection_id()")?.and_then(|id| id.int()).unwrap_or(0);
    let waits = format!(
        "SELECT 1 FROM information_schema.processlist WHERE id = {process} AND state = 'Waiting for table metadata lock'"
    );
    let rename = format!("RENAME TABLE {table} TO {old}, {new} TO {table}");
    std::thread::scope(|scope| {
        let renames = scope.spawn(move || other.script(&rename));
        let queued = loop {
            match session.one(&waits) {
                Ok(None) if renames.is_finished() => break Ok(()),
                Ok(None) => std::thread::sleep(LOOK),
                Ok(Some(_)) => break session.script(&format!("DROP TABLE {old}")),
                Err(failure) => break Err(failure),
            }
        };
        let let_go = session.script("UNLOCK TABLES");
        let renamed = renames.join().unwrap_or_else(|_| Err(Failure::refused("the exchange panicked")));
        queued.and(let_go).and(renamed)
    })
}

/// Clears away what lies beside a table because of a move, however far it came, and nothing that anybody else made. The copy goes first:
/// without it no exchange that is still on its way can be made.
pub(super) fn clear(session: &mut dyn Session, key: &str) -> Result<(), Failure> {
    let (names, numbers) = (names(session, key)?, journal::numbers(session, key)?);
    let [table, new, old] = &names.all;
    if ours(&there(session, key, &names)?, &numbers)[0] {
        session.script(&format!("DROP TABLE IF EXISTS {new}"))?;
    }
    let there = there(session, key, &names)?;
    let [_, ours] = ours(&there, &numbers);
    match &there {
        // A server that died between both halves of an exchange.
        [None, _, Some(was)] if was.comment != STANDS && (ours || numbers[0].is_empty()) => {
            session.script(&format!("RENAME TABLE {old} TO {table}"))?;
        }
        _ if ours => session.script(&format!("DROP TABLE IF EXISTS {old}"))?,
        _ => {}
    }
    journal::ended(session, key, there[0].as_ref().is_some_and(|now| now.is(&numbers[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_known_by_its_file_wherever_that_lies() {
        let known = |id: &str| key(id).unwrap_or_default();
        for id in ["/data/shop/a@0024b.ibd", "./shop/a@0024b.ibd", "shop/a@0024b", "/f/shop/a@0024b#P#p0.ibd"] {
            assert_eq!(known(id), "shop/a@0024b", "{id}");
        }
        for id in ["", "16384", "shop/a' OR 1.ibd", "sh`op/a.ibd", "./ibdata 1"] {
            assert_eq!(key(id).filter(|_| id != "./ibdata 1"), None, "{id}");
        }
    }

    #[test]
    fn a_folder_is_read_while_writers_go_on_and_not_guessed_where_the_table_was_altered() {
        let said = |number: u64, more: &str| {
            format!("CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB AUTO_INCREMENT={number}{more}")
        };
        let lies = |more: &str| folder(&said(42, ""), &said(43, more));
        assert_eq!(lies(" DATA DIRECTORY='/fast/'"), Some("/fast".to_owned()));
        assert_eq!(lies(""), Some(String::new()));
        assert_eq!(folder(&said(42, " COMMENT='x'"), &said(42, " DATA DIRECTORY='/fast/'")), None);
    }

    #[test]
    fn the_next_number_is_no_part_of_a_definition() {
        let text = |number: &str| {
            format!(
                "CREATE TABLE `t` (\n  `a` int COMMENT ') ENGINE=InnoDB AUTO_INCREMENT=7'\n) ENGINE=InnoDB{number} COMMENT='x'"
            )
        };
        assert_eq!(unnumbered(&text(" AUTO_INCREMENT=42")), (text(""), Some(42)));
        assert_eq!(unnumbered(&text("")), (text(""), None));
    }
}
