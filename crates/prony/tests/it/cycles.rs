//! Checkpoints that come by themselves, on a real private server.

use crate::house::House;
use crate::program::skipped;

/// The least log that PostgreSQL lets be set makes a checkpoint due after about 16 MB of it.
const OFTEN: &str = "--set preset=desk --set customers=100 --set sessions=4 --set warm_up=1s --set measure=24s \
                     --set server=max_wal_size=32MB;min_wal_size=32MB;checkpoint_timeout=30s;synchronous_commit=off";

#[test]
fn a_window_with_checkpoints_of_a_real_server_is_cut_to_whole_cycles() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let run = house.run(OFTEN);
    let trial = &run["trials"][0];
    let found = &trial["server"]["checkpoints"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    let length = |window: &serde_json::Value| number(&window["end"]) - number(&window["start"]);
    assert!((length(&found["measured_s"]) - 24.0).abs() < 1e-6, "{found}");
    if number(&found["cycles"]) < 1.0 {
        return skipped(&format!("this machine wrote too little log for two checkpoints in 24 s: {}", found["text"]));
    }
    assert_eq!(found["window"], "whole-cycles", "{found}");
    let (counted, cycles) = (length(&trial["window_s"]), number(&found["cycles"]));
    assert!(counted < 24.0 && (counted / cycles - number(&found["cycle_s"])).abs() < 1e-6, "{found}");
    let mean = number(&trial["throughput_per_s"]);
    let done = number(&trial["done"]);
    assert!(mean > 0.0 && mean * counted < done, "only a part of all that was done is counted: {mean} of {done}");
    let set = &trial["server"]["working_set"];
    assert_eq!(set["fits"], "buffer", "{set}");
    assert!(number(&set["data_bytes"]) > 1e6 && number(&set["data_bytes"]) < number(&set["buffer_bytes"]), "{set}");
    assert!(number(&set["memory_bytes"]) > number(&set["buffer_bytes"]), "{set}");
}
