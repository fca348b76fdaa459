//! Leaving a test out where the machine lacks something, in one visible and countable form.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Says on the real standard error, which the test harness does not swallow, that a test was left out, and adds a line to
/// the file named by `PRONY_SKIPS`, where whoever runs all tests counts them.
pub fn note(why: &str) {
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    let _ = writeln!(std::io::stderr(), "skipped: {why} ({count} in this binary)");
    if let Some(path) = std::env::var_os("PRONY_SKIPS") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = file.and_then(|mut file| writeln!(file, "skipped: {why}"));
    }
}

/// What of these is missing: `root`, `loop devices`, a path, or a program.
pub fn missing(needs: &[&str]) -> Option<String> {
    let lacks = |need: &&&str| match **need {
        "root" => !rustix::process::geteuid().is_root(),
        "loop devices" => !Path::new("/dev/loop-control").exists(),
        path if path.starts_with('/') => !Path::new(path).exists(),
        program => !is_installed(program),
    };
    let missing: Vec<&str> = needs.iter().filter(lacks).copied().collect();
    (!missing.is_empty()).then(|| format!("this machine has no {}", missing.join(", no ")))
}

/// Looked up, not run: asking `dmsetup` for its version already makes nodes in `/dev`.
fn is_installed(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join(program).is_file())
}

/// Returns from the test where something that it needs is missing.
macro_rules! need {
    ($($what:literal),+) => {
        if let Some(why) = crate::skip::missing(&[$($what),+]) {
            crate::skip::note(&why);
            return;
        }
    };
}

pub(crate) use need;
