//! Running the program, and taking out of what it prints what differs from run to run.

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::LazyLock;
use tempfile::TempDir;

/// A study whose every number can be worked out by hand; written `LAB` in command lines.
const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/lab.toml");

/// The study on two systems, the second a quarter faster, in four pairs.
pub const TWO: &str = "run LAB --on old=scripted:service=100us,servers=8 --on new=scripted:service=80us,servers=8 \
                       --set replicates=4 --seed 7";

/// A folder of its own in which the program runs.
pub struct Program {
    dir: TempDir,
}

/// What came out.
pub struct Ran {
    pub code: Option<i32>,
    /// With what differs from run to run taken out; so is stderr.
    pub stdout: String,
    pub stderr: String,
    /// Stdout as it came.
    pub raw: String,
}

impl Program {
    pub fn new() -> Program {
        Program { dir: TempDir::new().expect("a folder for the test") }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file in the folder.
    pub fn write(&self, name: &str, text: &str) -> &Program {
        std::fs::write(self.path(name), text).expect("a file for the test");
        self
    }

    /// A command line, not yet started, for tests that send signals. Its environment holds nothing that changes output.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prony"));
        command.args(words(line)).current_dir(self.dir()).env_clear().env("TZ", "UTC").env("PATH", "/usr/bin:/bin");
        // Data sets and private servers of a test are its own.
        command.env("PRONY_CACHE", self.path("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command line to its end.
    pub fn run(&self, line: &str) -> Ran {
        self.ran(self.command(line))
    }

    /// The same with a gigabyte of memory and ten seconds of a processor, after which the kernel ends it.
    pub fn bounded(&self, line: &str) -> Ran {
        self.limited(&["--data=1073741824", "--cpu=10"], line)
    }

    /// The same within limits in the words of `prlimit`.
    pub fn limited(&self, limits: &[&str], line: &str) -> Ran {
        self.under("prlimit", limits, line)
    }

    /// The same started by another program, with these options.
    pub fn under(&self, starter: &str, options: &[&str], line: &str) -> Ran {
        let plain = self.command(line);
        let mut bounded = Command::new(starter);
        bounded.args(options).arg(plain.get_program()).args(plain.get_args());
        bounded.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        bounded.current_dir(self.dir()).stdin(Stdio::null());
        self.ran(bounded)
    }

    fn ran(&self, mut command: Command) -> Ran {
        let output = command.output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
        let (raw, stderr) = (text(output.stdout), text(output.stderr));
        let (stdout, stderr) = (filtered(&raw, self.dir()), filtered(&stderr, self.dir()));
        Ran { code: output.status.code(), stdout, stderr, raw }
    }

    /// Runs it, expects exit code 0, and gives stdout.
    pub fn fine(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "prony {line}\n{ran}");
        ran.stdout
    }

    /// Runs it, expects exit code 2 with nothing on stdout, and gives stderr.
    pub fn refused(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(2), "prony {line}\n{ran}");
        assert_eq!(ran.stdout, "", "prony {line}\n{ran}");
        ran.stderr
    }

    /// Runs it, expects exit code 0 and JSON on stdout.
    pub fn json(&self, line: &str) -> Value {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "prony {line}\n{ran}");
        ran.json()
    }

    /// Starts a command line that is expected to run for a while. Its stdout goes nowhere.
    pub fn start(&self, line: &str) -> Going {
        let mut child = self.command(line).stdout(Stdio::null()).spawn().expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Going { child, stderr, said: String::new() }
    }

    /// Names of the files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir()).expect("the folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// A program that is running, with what it has said on stderr so far.
pub struct Going {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Going {
    /// Reads stderr until a line holds `text` for the `times`th time; a program that ends before is a failure.
    pub fn until(&mut self, text: &str, times: usize) {
        while self.said.lines().filter(|line| line.contains(text)).count() < times {
            let read = self.stderr.read_line(&mut self.said).expect("stderr is text");
            assert!(read > 0, "it ended before it said `{text}` {times} times:\n{}", self.said);
        }
    }

    /// What it has said so far.
    pub fn said(&self) -> &str {
        &self.said
    }

    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a state").is_none()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is running");
    }

    /// Waits for the end; exit code and everything that was said.
    pub fn end(mut self) -> (Option<i32>, String) {
        self.stderr.read_to_string(&mut self.said).expect("stderr is text");
        let code = self.child.wait().expect("an end").code();
        (code, std::mem::take(&mut self.said))
    }
}

/// A test that fails leaves nothing behind that loads the machine, or starts a server again that the next test wants down.
impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Splits a command line at spaces; what stands in single quotes stays together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(|word| word.replace("LAB", LAB))),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

impl Ran {
    /// Stdout as JSON.
    pub fn json(&self) -> Value {
        self.raw.parse().unwrap_or_else(|error| panic!("stdout is no JSON: {error}\n{self}"))
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        write!(f, "exit code: {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// What differs from run to run, each with the word that stands in its place.
static FILTERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let filter = |pattern: &str, word| (Regex::new(pattern).expect("a pattern"), word);
    vec![
        filter(r"\d{4}-\d\d-\d\dT\d{4}\b", "[MINUTE]"),
        filter(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?( ?UTC|Z)?", "[TIME]"),
        filter(r"[Pp]rony 0\.\d+\.\d+( \([0-9a-z]+\)| \(commit [0-9a-z]+\))?", "Prony [VERSION]"),
    ]
});

fn filtered(text: &str, dir: &Path) -> String {
    let mut text = text.replace(&dir.display().to_string(), "[DIR]").replace(LAB, "lab.toml");
    for (pattern, word) in FILTERS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    text
}

/// Says that a test cannot run here and why, and counts it in the file that `PRONY_SKIPS` names.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::program::skipped(&format!($($why)*));
        return;
    }};
}

/// The part of [`skip!`] that speaks.
#[expect(clippy::disallowed_macros, reason = "a test speaks through the output that its runner captures")]
pub fn skipped(why: &str) {
    use std::io::Write as _;
    println!("skipped: {why}");
    if let Some(path) = std::env::var_os("PRONY_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| writeln!(file, "skipped: {why}"));
    }
}
