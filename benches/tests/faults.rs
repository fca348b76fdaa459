//! What can happen to a run from outside.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None, for comparison.
    Nothing,
    /// The server dies at once, with all its processes.
    Kill,
    /// The server stands still for five seconds.
    Stop,
    /// The server stands still for a fifth of a second, ten times.
    Slow,
    /// The server ends the sessions that are open.
    Cut,
    /// The disk is full for five seconds.
    Full,
    /// The first Ctrl-C.
    Interrupt,
    /// Prony dies at once.
    Crash,
}

impl Fault {
    /// As tables say it.
    pub fn word(self) -> &'static str {
        match self {
            Fault::Nothing => "nothing",
            Fault::Kill => "kill",
            Fault::Stop => "stop",
            Fault::Slow => "slow",
            Fault::Cut => "cut",
            Fault::Full => "full",
            Fault::Interrupt => "interrupt",
            Fault::Crash => "crash",
        }
    }
}

/// Lets it happen to the run of process `prony` and to its server, whose data lie below `disk`.
pub fn strike(fault: Fault, disk: &Path, prony: u32) {
    let pause = |milliseconds| std::thread::sleep(Duration::from_millis(milliseconds));
    let all = servers(disk);
    let signal = |signal| all.iter().for_each(|server| send(server.pid, signal));
    match fault {
        Fault::Nothing => {}
        Fault::Kill => signal(libc::SIGKILL),
        Fault::Stop => {
            signal(libc::SIGSTOP);
            pause(5_000);
            signal(libc::SIGCONT);
        }
        Fault::Slow => (0..10).for_each(|_| {
            signal(libc::SIGSTOP);
            pause(200);
            signal(libc::SIGCONT);
            pause(300);
        }),
        // A session of PostgreSQL is a process of its own, whose title ends with what it does for which client.
        Fault::Cut => {
            all.iter().filter(|server| server.title.contains("[local]")).for_each(|one| send(one.pid, libc::SIGTERM))
        }
        Fault::Full => {
            let filler = disk.join("filler");
            must_not_fit(&filler);
            pause(5_000);
            let _ = fs::remove_file(filler);
        }
        Fault::Interrupt => send(prony, libc::SIGINT),
        Fault::Crash => send(prony, libc::SIGKILL),
    }
}

struct Process {
    pid: u32,
    title: String,
}

/// The servers whose command line names the folder, and their children.
fn servers(disk: &Path) -> Vec<Process> {
    let numbers = fs::read_dir("/proc")
        .expect("there is /proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let all: Vec<(u32, u32, String)> = numbers
        .filter_map(|pid| {
            let title = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((pid, parent, String::from_utf8_lossy(&title).replace('\0', " ")))
        })
        .collect();
    let disk = disk.display().to_string();
    let is_server = |title: &str| title.contains(&disk) && (title.contains("postgres") || title.contains("mariadbd"));
    let mains: Vec<u32> = all.iter().filter(|(_, _, title)| is_server(title)).map(|(pid, ..)| *pid).collect();
    let ours = all.into_iter().filter(|(pid, parent, _)| mains.contains(pid) || mains.contains(parent));
    ours.map(|(pid, _, title)| Process { pid, title }).collect()
}

fn send(pid: u32, signal: i32) {
    // SAFETY: a number and a signal; a process that is gone is an error that changes nothing.
    unsafe { libc::kill(pid as i32, signal) };
}

/// Takes all room that is left.
fn must_not_fit(filler: &Path) {
    use std::io::Write as _;
    let mut file = fs::File::create(filler).expect("a file");
    let block = vec![0u8; 1 << 20];
    while file.write_all(&block).is_ok() {}
    let _ = file.sync_all();
}
