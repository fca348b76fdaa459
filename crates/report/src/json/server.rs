//! The server of a database in a trial.

use super::{memory, number, optional};
use analysis::ServerSummary;
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
        "counters_per_s": server.counters.iter().map(|(name, rate)| json!({
            "name": name,
            "per_s": number(*rate),
        })).collect::<Vec<_>>(),
    })
}
