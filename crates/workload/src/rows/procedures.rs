//! The jobs' updates as procedures of the server: one call goes over the rows of a transaction, row by row.

use super::fill::{procedure, source};
use super::{Spec, Update};
use crate::dataset::{Definition, Language, Procedures};

/// Changes with the text below.
const VERSION: &str = "rows-1";

/// One for each job: from a row to before another, how many of a hundred are updated, and whether rows are read for update.
pub(super) fn procedures(spec: &Spec, language: Language) -> Procedures {
    Procedures { version: VERSION.to_owned(), definitions: (0..spec.jobs).map(|job| of_job(job, language)).collect() }
}

fn of_job(job: u32, language: Language) -> Definition {
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
