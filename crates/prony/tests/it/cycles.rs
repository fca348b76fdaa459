//! Checkpoints that come by themselves, on a real private server.
//!
//! The one idea: transactions of a known size at a known rate fill the log so fast that a checkpoint is due every few seconds,
//! whatever the machine.

use crate::house::House;

/// Writes 40 kB of log.
const SCRIPT: &str = "SELECT length(pg_logical_emit_message(true, 'log', repeat('x', 40000))::text);\n";

/// The least log that PostgreSQL lets be set makes a checkpoint due after 16 MiB of it: every four seconds.
const OFTEN: &str = "run sql --on local:postgres --set script=log.sql --set sessions=4 --set rate=100/s --set warm_up=1s \
                     --set measure=15s --set server=max_wal_size=32MB;min_wal_size=32MB --json --quiet";

#[test]
fn a_window_with_checkpoints_of_a_real_server_is_cut_to_whole_cycles() {
    let Some(house) = House::with_server("local:postgres") else { return };
    std::fs::write(house.program.path("log.sql"), SCRIPT).expect("the folder is ours");
    let run = house.program.json(OFTEN);
    let trial = &run["trials"][0];
    let found = &trial["server"]["checkpoints"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    let length = |window: &serde_json::Value| number(&window["end"]) - number(&window["start"]);
    assert_eq!(found["window"], "whole-cycles", "{found}");
    let (counted, cycles) = (length(&trial["window_s"]), number(&found["cycles"]));
    assert!((length(&found["measured_s"]) - 15.0).abs() < 1e-6 && counted < 15.0, "{found}");
    assert!(cycles >= 1.0 && (counted / cycles - number(&found["cycle_s"])).abs() < 1e-6, "{found}");
    assert!(
        number(&trial["throughput_per_s"]) * counted < number(&trial["done"]),
        "the books are of all that was asked"
    );
    let set = &trial["server"]["working_set"];
    assert_eq!(set["fits"], "buffer", "{set}");
    assert!(number(&set["data_bytes"]) > 1e6 && number(&set["data_bytes"]) < number(&set["buffer_bytes"]), "{set}");
    assert!(number(&set["memory_bytes"]) > number(&set["buffer_bytes"]), "{set}");
}
