//! What batch jobs say. Every job has its own tables and so its own statements.

use super::data_set::{procedure, source, target};
use super::{Access, Mode, Spec, Update};
use crate::dataset::{Definition, Language, Procedures};
use crate::transaction::Statement;

/// A job's statements, by their places among its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    /// Read what is to be updated.
    Read = 0,
    /// Read it for update.
    Lock = 1,
    /// Update it.
    Update = 2,
}

impl Said {
    /// Copy a block, call the procedure, or insert or delete rows.
    pub(super) const WORK: Said = Said::Read;
    /// Keep account of the rows of rounds that are over.
    pub(super) const COUNTED: Said = Said::Lock;
    /// Bring all rows of a round, or take them away.
    pub(super) const ROUND: Said = Said::Update;

    /// Its place in the list.
    pub(super) fn of(self, spec: &Spec, job: u32) -> u16 {
        (job * each(spec) + self as u32) as u16
    }
}

/// Statements of a job.
fn each(spec: &Spec) -> u32 {
    match spec.mode {
        Mode::Copy { .. } | Mode::Update(Update { access: Access::Procedure, .. }) => 1,
        _ => 3,
    }
}

/// The one class of the jobs.
pub fn classes(spec: &Spec) -> Vec<&'static str> {
    vec![match spec.mode {
        Mode::Update(_) => "update",
        Mode::Copy { .. } => "copy",
        Mode::Insert { .. } => "insert",
        Mode::Delete => "delete",
    }]
}

/// The statements that [`Rows`](super::Rows) calls, as many for each job.
pub fn statements(spec: &Spec) -> Vec<Statement> {
    (0..spec.jobs).flat_map(|job| of_job(spec, job)).collect()
}

fn of_job(spec: &Spec, job: u32) -> Vec<Statement> {
    let (from, to) = (source(job), target(job));
    let class = classes(spec)[0];
    let named =
        |(name, sql, rows): (&str, String, bool)| Statement { name: format!("{class}: {name} ({from})"), sql, rows };
    let copy = format!(
        "insert into {to} (round, id, counter, filler) select $1, id, counter, filler from {from} \
         where id >= $2 and id < $3"
    );
    let counted = |rows: String| format!("update {from} set counter = counter + {rows} where id = 1");
    let all = match spec.mode {
        Mode::Update(update) => return updates(&update, job).into_iter().map(named).collect(),
        Mode::Copy { .. } => vec![("copy block", copy, false)],
        Mode::Insert { block } => vec![
            ("insert rows", insert(&to, block), false),
            ("count round", counted(format!("(select count(*) from {to})")), false),
            ("empty table", format!("delete from {to}"), false),
        ],
        Mode::Delete => vec![
            ("delete row", format!("delete from {to} where round = $1 and id = $2"), false),
            ("count round", counted("$1".to_owned()), false),
            ("bring rows back", copy, false),
        ],
    };
    all.into_iter().map(named).collect()
}

fn updates(update: &Update, job: u32) -> Vec<(&'static str, String, bool)> {
    let from = source(job);
    let read = |place: &str| format!("select counter, filler from {from} where {place}");
    match update.access {
        Access::Procedure => vec![("call", format!("call {}($1, $2, $3, $4)", procedure(job)), false)],
        Access::Row => vec![
            ("read row", read("id = $1"), true),
            ("lock row", format!("{} for update", read("id = $1")), true),
            ("update row", format!("update {from} set counter = $1 where id = $2"), false),
        ],
        Access::Set => {
            let range = "id >= $1 and id < $2";
            let some = match update.share {
                100 => String::new(),
                share => format!(" and {}", Update::changes_sql("id", &share.to_string())),
            };
            vec![
                ("read rows", read(range), true),
                ("lock rows", format!("{} for update", read(range)), true),
                ("update rows", format!("update {from} set counter = counter + 1 where {range}{some}"), false),
            ]
        }
    }
}

/// The round first, then number and filler of each row.
fn insert(to: &str, block: u32) -> String {
    let row = |at: u32| format!("($1, ${}, 0, ${})", 2 * at + 2, 2 * at + 3);
    let rows: Vec<String> = (0..block.max(1)).map(row).collect();
    format!("insert into {to} (round, id, counter, filler) values {}", rows.join(", "))
}

/// How much work of a job the database holds, one whole number: updates of all rows, or rows that were copied, inserted or deleted.
/// What a worker was told of the job says how it may have grown.
pub fn tally_statement(spec: &Spec, job: u32) -> String {
    let (from, to) = (source(job), target(job));
    match spec.mode {
        Mode::Update(_) => format!("select coalesce(sum(counter), 0) from {from}"),
        Mode::Copy { .. } => format!("select count(*) from {to}"),
        Mode::Insert { .. } => format!("select (select counter from {from} where id = 1) + count(*) from {to}"),
        Mode::Delete => format!("select (select counter from {from} where id = 1) - count(*) from {to}"),
    }
}

// The jobs' updates as procedures of the server: one call goes over the rows of a transaction, row by row.

/// Changes with the text below.
const VERSION: &str = "rows-1";

/// One for each job: from a row to before another, how many of a hundred are updated, and whether rows are read for update.
pub(super) fn procedures(spec: &Spec, language: Language) -> Procedures {
    Procedures {
        version: VERSION.to_owned(),
        definitions: (0..spec.jobs).map(|job| definition(job, language)).collect(),
    }
}

fn definition(job: u32, language: Language) -> Definition {
    let (name, table) = (procedure(job), source(job));
    let read = format!("select counter, filler into v_counter, v_filler from {table} where id = v_row");
    let body = format!(
        "if p_locks = 1 then {read} for update; else {read}; end if; \
         if {} then update {table} set counter = v_counter + 1 where id = v_row; end if;",
        Update::changes_sql("v_row", "p_share")
    );
    let list = "p_first bigint, p_end bigint, p_share bigint, p_locks bigint";
    let create = match language {
        Language::Postgres => format!(
            "create procedure {name}({list}) language plpgsql as $body$\n\
             declare v_row bigint; v_counter bigint; v_filler text;\n\
             begin for v_row in p_first .. p_end - 1 loop {body} end loop; end\n$body$"
        ),
        Language::Mariadb => format!(
            "create procedure {name}({list}) modifies sql data sql security invoker\n\
             begin declare v_row bigint default p_first; declare v_counter bigint; declare v_filler longtext;\n\
             while v_row < p_end do {body} set v_row = v_row + 1; end while; end"
        ),
    };
    Definition { drop: format!("drop procedure if exists {name}"), name, create }
}
