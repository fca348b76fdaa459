//! The server of a database in a trial.

use super::memory::working_set;
use super::value::{object, objects};
use analysis::{PerTransaction, ServerSummary, StatementProfile, StatementsProfile};
use observation::Counter;
use serde_json::Value;

objects! {
    server: ServerSummary {
        embedded,
        "cpu_cores": object!(server { "user": server.cpu_user_cores, "system": server.cpu_system_cores }),
        bytes_read_per_s, bytes_written_per_s, processes, buffer_hit_share, per_transaction, checkpoints,
        "working_set": server.working_set.as_ref().map(|set| working_set(set, crate::view::working_set(server))),
        "transactions_per_machine_core_per_s": server.per_machine_core_per_s,
        "transactions_per_server_core_per_s": server.per_server_core_per_s,
        profile,
        "counters_per_s": server.counters.iter().map(counter).collect::<Vec<_>>(),
    }

    each: PerTransaction { cpu_ms, bytes_read, bytes_written, log_bytes }

    profile: StatementsProfile { "cpu": profile.cpu.word(), log_shared_out, "total": profile.total(), statements }

    one: StatementProfile {
        name, executions, rows, changed, server_executions, cpu_us, execution_us, planning_us, io_us, lookups, reads,
        rows_examined, log_bytes,
    }
}

fn counter(counter: &(Counter, f64)) -> Value {
    object!(counter { "name": counter.0.word(), "per_s": counter.1 })
}
