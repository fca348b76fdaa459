//! Filling a house, a bank and a warehouse beside `COPY FROM` of the very same rows from ready files: same server, same tables,
//! same number of clients, turn by turn.
//!
//! Only rows count on both sides: keys, indexes and references come after them, and the files are made beforehand. They
//! are read by the server itself, so that the folder of the benchmark must be open to the server's user.

use crate::postgres::{Data, Server};
use crate::{Settings, row, turns};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

/// Data sets with what is wanted of each.
const DATA: [(Data, &str); 3] = [
    (
        Data {
            study: "brokerage",
            sets: &["preset=house", "customers=1000", "days=5"],
            schema: "brokerage_house_1000_5_",
        },
        "at least 0.6",
    ),
    (Data { study: "bank-day", sets: &["accounts=20000"], schema: "bank_20000_20_" }, "at least 0.8"),
    (Data { study: "warehouse", sets: &["rows=1M"], schema: "warehouse_1000000_2_" }, "at least 0.8"),
];

/// Lines of a ready file: a table is no longer one client's than it is in our fill.
const LINES: usize = 50_000;
const SCHEMA: &str = "prony_bench_copy";

/// Rows a second of both, and their ratio.
pub fn measure(settings: &Settings) {
    let Some(server) = Server::given("fill") else { return };
    let clients = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4));
    DATA.iter().for_each(|(data, wanted)| compare(settings, &server, clients, data, wanted));
}

fn compare(settings: &Settings, server: &Server, clients: usize, data: &Data, wanted: &str) {
    println!("\nfilling {} ({}), {clients} clients, rows only", data.study, data.sets.join(", "));
    fill(server, data);
    let ready = Ready::of(server, data, &settings.dir);
    let pairs = turns(settings.pairs, || fill(server, data), || ready.copy(server, clients));
    let rates = |seconds: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        pairs.iter().map(|pair| ready.rows as f64 / seconds(pair) / 1e3).collect()
    };
    row("rows a second over COPY FROM", &pairs.iter().map(|(ours, copy)| copy / ours).collect::<Vec<_>>(), "", wanted);
    row("our rows, thousands", &rates(|pair| pair.0), "/s", "");
    row("COPY's rows, thousands", &rates(|pair| pair.1), "/s", "");
    println!("{} rows", ready.rows);
    server.ask(&format!("drop schema {SCHEMA} cascade"));
    let _ = fs::remove_dir_all(&ready.folder);
}

/// Fills anew and answers with the seconds between the last table that was made and the last row that was in.
fn fill(server: &Server, data: &Data) -> f64 {
    data.drop(server);
    server.ask("checkpoint");
    let mut command = data.command(&["db", "fill"], server);
    command.arg("-v");
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (mut begun, mut ended) = (Instant::now(), None);
    for line in BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok) {
        match line.split_once(':').map(|(stage, _)| stage) {
            Some("tables") => begun = Instant::now(),
            Some("rows") => ended = Some(Instant::now()),
            _ => {}
        }
    }
    assert!(child.wait().is_ok_and(|status| status.success()), "{command:?} failed");
    ended.expect("a fill tells of its rows").duration_since(begun).as_secs_f64()
}

/// The rows of a filled data set in files.
struct Ready {
    folder: PathBuf,
    schema: String,
    tables: Vec<String>,
    /// Bytes, table and file; the largest first.
    files: Vec<(u64, String, PathBuf)>,
    rows: u64,
}

impl Ready {
    fn of(server: &Server, data: &Data, dir: &Path) -> Ready {
        let schema = data.schemas(server).pop().expect("the data set was filled");
        let folder = fs::canonicalize(dir).expect("the benchmark's folder").join("ready-rows");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let sql =
            format!("select tablename from pg_tables where schemaname = '{schema}' and tablename <> 'prony_dataset'");
        let mut ready = Ready { folder, schema, tables: server.ask(&sql), files: Vec::new(), rows: 0 };
        for table in ready.tables.clone() {
            ready.keep(server, &table);
        }
        ready.files.sort_by(|one, other| other.0.cmp(&one.0));
        ready
    }

    /// Writes the rows of a table into files of so many lines: in this format a row is a line.
    fn keep(&mut self, server: &Server, table: &str) {
        let sql = format!("copy {}.{table} to stdout", self.schema);
        let rows = crate::process::run(server.psql().args(["-c", &sql])).stdout;
        let lines: Vec<&[u8]> = rows.split_inclusive(|byte| *byte == b'\n').collect();
        self.rows += lines.len() as u64;
        for (part, lines) in lines.chunks(LINES).enumerate() {
            let path = self.folder.join(format!("{table}.{part}"));
            let bytes = lines.concat();
            fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            self.files.push((bytes.len() as u64, table.to_owned(), path));
        }
    }

    /// Loads all files into empty tables like ours and answers with the seconds that it took.
    fn copy(&self, server: &Server, clients: usize) -> f64 {
        server.ask(&format!("drop schema if exists {SCHEMA} cascade; create schema {SCHEMA}"));
        for table in &self.tables {
            server.ask(&format!("create table {SCHEMA}.{table} (like {}.{table})", self.schema));
        }
        server.ask("checkpoint");
        let scripts = self.shares(clients);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for script in &scripts {
                scope.spawn(move || client(server, script));
            }
        });
        begun.elapsed().as_secs_f64()
    }

    /// What each client says: the next largest file goes to who has the least so far.
    fn shares(&self, clients: usize) -> Vec<String> {
        let mut shares = vec![(0, String::new()); clients];
        for (bytes, table, path) in &self.files {
            let least = shares.iter_mut().min_by_key(|share| share.0).expect("there are clients");
            least.0 += bytes;
            least.1 += &format!("copy {SCHEMA}.{table} from '{}';\n", path.display());
        }
        shares.into_iter().map(|share| share.1).collect()
    }
}

fn client(server: &Server, script: &str) {
    let child = server.psql().stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("psql: {error}"));
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("psql reads");
    assert!(child.wait().is_ok_and(|status| status.success()), "psql failed; may the server read the files?");
}
