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
}

/// A data set, as a study has it.
pub struct Data {
    /// A study that works on it.
    pub study: &'static str,
    /// What the study is told of it.
    pub sets: &'static [&'static str],
    /// What its schema's name begins with, behind `prony_`.
    pub schema: &'static str,
}

impl Data {
    /// These words about the data set on the server, ready for further arguments.
    pub fn command(&self, words: &[&str], server: &Server) -> Command {
        let mut command = crate::prony::command();
        command.args(words).args([self.study, "--on", &server.url]);
        crate::prony::set(&mut command, self.sets);
        command
    }

    /// Its schemas, as earlier benchmarks have filled them.
    pub fn schemas(&self, server: &Server) -> Vec<String> {
        server.ask(&format!("select nspname from pg_namespace where nspname like 'prony_{}%'", self.schema))
    }

    /// Drops them.
    pub fn drop(&self, server: &Server) {
        for schema in self.schemas(server) {
            server.ask(&format!("drop schema {schema} cascade"));
        }
    }
}
