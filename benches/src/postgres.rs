//! The reader's own PostgreSQL, through `psql`.

use std::process::Command;

/// A database that the reader named.
pub struct Server {
    /// Its URL.
    pub url: String,
}

impl Server {
    /// The database of `PRONY_BENCH_POSTGRES`; without it says that the benchmark is skipped.
    pub fn given(benchmark: &str) -> Option<Server> {
        let url = std::env::var("PRONY_BENCH_POSTGRES").ok();
        if url.is_none() {
            println!("\n{benchmark}: skipped, PRONY_BENCH_POSTGRES names no database (see docs/benchmarks.md)");
        }
        url.map(|url| Server { url })
    }

    /// Ready for further arguments; the first failure ends it.
    pub fn psql(&self) -> Command {
        let mut command = Command::new("psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.url]);
        command
    }

    /// The rows that statements give, one a line.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        let told = crate::process::run(self.psql().args(["-c", sql])).stdout;
        String::from_utf8_lossy(&told).lines().map(str::to_owned).collect()
    }

    /// Drops the data sets of the house that earlier benchmarks have filled with so many customers and days.
    pub fn drop_house(&self, customers: u32, days: u32) {
        for schema in self.houses(customers, days) {
            self.ask(&format!("drop schema {schema} cascade"));
        }
    }

    /// The schema of the house of so many customers and days.
    pub fn houses(&self, customers: u32, days: u32) -> Vec<String> {
        self.ask(&format!(
            "select nspname from pg_namespace where nspname like 'prony_brokerage_house_{customers}_{days}_%'"
        ))
    }
}
