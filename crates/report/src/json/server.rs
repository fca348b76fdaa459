//! The server of a database in a trial.

use super::{memory, number, optional};
use analysis::{ServerSummary, StatementProfile, StatementsProfile};
use serde_json::{Value, json};

/// The server over the window of a trial.
pub(super) fn entry(server: &ServerSummary) -> Value {
    let each = &server.per_transaction;
    json!({
        "embedded": server.embedded,
        "cpu_cores": { "user": optional(server.cpu_user_cores), "system": optional(server.cpu_system_cores) },
        "bytes_read_per_s": optional(server.bytes_read_per_s),
        "bytes_written_per_s": optional(server.bytes_written_per_s),
        "processes": optional(server.processes),
        "buffer_hit_share": optional(server.buffer_hit_share),
        "per_transaction": {
            "cpu_ms": optional(each.cpu_ms),
            "bytes_read": optional(each.bytes_read),
            "bytes_written": optional(each.bytes_written),
            "log_bytes": optional(each.log_bytes),
        },
        "checkpoints": server.checkpoints.as_ref().map(memory::checkpoints),
        "working_set": server.working_set.as_ref().map(|set| memory::working_set(set, crate::view::working_set(server))),
        "transactions_per_machine_core_per_s": optional(server.per_machine_core_per_s),
        "transactions_per_server_core_per_s": optional(server.per_server_core_per_s),
        "profile": server.profile.as_ref().map(profile),
        "counters_per_s": server.counters.iter().map(|(counter, rate)| json!({
            "name": counter.word(),
            "per_s": number(*rate),
        })).collect::<Vec<_>>(),
    })
}

/// What one transaction asked, by statement.
fn profile(profile: &StatementsProfile) -> Value {
    json!({
        "cpu": profile.cpu.word(),
        "log_shared_out": profile.log_shared_out,
        "total": statement(&profile.total()),
        "statements": profile.statements.iter().map(statement).collect::<Vec<_>>(),
    })
}

fn statement(one: &StatementProfile) -> Value {
    json!({
        "name": one.name,
        "executions": number(one.executions),
        "rows": number(one.rows),
        "changed": number(one.changed),
        "server_executions": optional(one.server_executions),
        "cpu_us": optional(one.cpu_us),
        "execution_us": optional(one.execution_us),
        "planning_us": optional(one.planning_us),
        "io_us": optional(one.io_us),
        "lookups": optional(one.lookups),
        "reads": optional(one.reads),
        "rows_examined": optional(one.rows_examined),
        "log_bytes": optional(one.log_bytes),
    })
}
