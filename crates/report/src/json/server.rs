//! The server of a database in a trial.

use super::value::{Json, object, objects, pairs};
use analysis::{
    Checkpoints, Fits, MirrorWaits, PerTransaction, ServerSummary, StatementProfile, StatementsProfile, WorkingSet,
};
use observation::{Counter, Window};
use serde_json::Value;

objects! {
    server: ServerSummary {
        embedded,
        "cpu_cores": object!(server { "user": server.cpu_user_cores, "system": server.cpu_system_cores }),
        mirror_cpu_cores, mirror,
        bytes_read_per_s, bytes_written_per_s, processes, buffer_hit_share, per_transaction, checkpoints,
        "working_set": server.working_set.as_ref().map(|set| working_set(set, crate::view::working_set(server))),
        "transactions_per_machine_core_per_s": server.per_machine_core_per_s,
        "transactions_per_server_core_per_s": server.per_server_core_per_s,
        profile,
        "counters_per_s": pairs(&server.counters, ["name", "per_s"]),
    }

    seen: MirrorWaits {
        waiting, changing_per_s, written_ms, flushed_ms, applied_ms, flush_ms, wire_ms, "round_trips_per_s": seen.trips_per_s,
    }

    each: PerTransaction { cpu_ms, mirror_cpu_ms, bytes_read, bytes_written, log_bytes }

    profile: StatementsProfile { "cpu": profile.cpu.word(), log_shared_out, "total": profile.total(), statements }

    one: StatementProfile {
        name, executions, rows, changed, server_executions, cpu_us, execution_us, planning_us, io_us, lookups, reads,
        rows_examined, log_bytes, "seen": pairs(&one.seen, ["event", "us"]),
    }

    window: Window { "start": window.start.seconds(), "end": window.end.seconds() }

    found: Checkpoints { "window": found.held.word(), "measured_s": found.measured, begun, cycles, cycle_s, text }
}

impl Json for Counter {
    fn json(&self) -> Value {
        self.word().json()
    }
}

/// The data beside the memories that may hold it, with the sentence that judges it.
fn working_set(set: &WorkingSet, text: Option<String>) -> Value {
    object!(set {
        data_bytes, buffer_bytes, "buffer_of_each_session": set.buffer_each, buffered_bytes, memory_bytes,
        page_cached_bytes, "fits": set.fits.map(Fits::word), "text": text,
    })
}
