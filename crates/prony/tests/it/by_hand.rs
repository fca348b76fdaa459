//! A server that somebody starts by hand on the data of a node, which a pair must leave alone.

use crate::program::Program;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The server, which ends with this value.
pub struct ByHand(Child);

impl ByHand {
    /// Starts a server as whoever owns the data.
    pub fn start(program: &Path, data: &Path, words: &[&str]) -> ByHand {
        let owner = std::fs::metadata(data).expect("data");
        let mut command = Command::new(program);
        command.args(words).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if owner.uid() != rustix::process::geteuid().as_raw() {
            command.uid(owner.uid()).gid(owner.gid());
        }
        ByHand(command.spawn().expect("it starts"))
    }

    pub fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Every command that would start or end a node names it, and ends nothing. Then it ends.
    pub fn left_alone(mut self, program: &Program, kind: &str) {
        let process = self.0.id();
        for command in [format!("pair up {kind} --dir pair").as_str(), "pair down", "pair down --remove"] {
            let refused = program.refused(command);
            let named = refused.contains(&format!("process {process} serves the data in"));
            assert!(named && refused.contains(&format!("kill {process}")), "{command}: {refused}");
            assert!(self.runs(), "{command}");
        }
        let pid = Pid::from_child(&self.0);
        kill_process(pid, Signal::TERM).expect("it is ours");
        self.0.wait().expect("it ends");
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
