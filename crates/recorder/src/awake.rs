//! Cores that stay awake while something is served whose times are short.
//!
//! The one idea: a core with nothing to do falls asleep and wakes up late: by 20 to 60 us in a virtual machine, at times by 200, and on bare
//! metal by what its deepest state takes. Linux keeps all cores awake for as long as somebody holds a request that none may be late (the
//! power management's quality of service, `/dev/cpu_dma_latency`). A kernel without a driver for idle cores takes the request and halts
//! them all the same, as many virtual machines do; there a process of the idle class keeps each core busy ([`kept_by`]). Whoever wants a
//! core has it as before: only an idle core waits awake.
//!
//! What it does not do: a user who may not ask for it goes without.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::process::Child;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;
use units::Nanos;

/// Who asks for it.
const REQUESTS: &str = "/dev/cpu_dma_latency";

/// What the kernel does with idle cores; `none` where it can only halt them.
const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";

/// Starts a process that keeps all cores busy as long as its standard input is open, and writes something to its standard output once it
/// does. Both are pipes.
pub type Keeper = fn() -> Result<Child>;

static KEEPER: OnceLock<Keeper> = OnceLock::new();

/// The process that all of this program's requests share.
static SHARED: Mutex<Weak<Kept>> = Mutex::new(Weak::new());

/// Names who keeps cores awake where the kernel does not. Without one nobody does.
pub fn kept_by(keeper: Keeper) {
    // The first one stays.
    let _ = KEEPER.set(keeper);
}

/// The request; it ends with this, also when the process is killed.
#[derive(Debug)]
pub struct Awake {
    _request: File,
    _kept: Option<Arc<Kept>>,
}

impl Awake {
    /// Keeps all cores awake. Waits until they are.
    ///
    /// # Errors
    /// This user may not, the kernel does not know such requests, or it halts idle cores and nobody keeps them busy.
    pub fn hold() -> Result<Awake> {
        let mut request = File::options().write(true).open(REQUESTS)?;
        // Microseconds, as a number of 32 bits.
        request.write_all(&0i32.to_ne_bytes())?;
        Ok(Awake { _request: request, _kept: halts().then(kept).transpose()? })
    }
}

/// Whether idle cores of this machine are halted, whatever is asked for.
fn halts() -> bool {
    std::fs::read_to_string(DRIVER).map_or(true, |driver| driver.trim() == "none")
}

fn kept() -> Result<Arc<Kept>> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = shared.upgrade() {
        return Ok(kept);
    }
    let keeper = KEEPER.get().ok_or_else(|| Error::from(ErrorKind::Unsupported))?;
    let kept = Arc::new(Kept::wait_for(keeper()?)?);
    *shared = Arc::downgrade(&kept);
    Ok(kept)
}

/// The process that keeps cores busy; it ends with this.
#[derive(Debug)]
struct Kept(Option<Child>);

impl Kept {
    fn wait_for(mut child: Child) -> Result<Kept> {
        let said = child.stdout.take();
        let kept = Kept(Some(child));
        let said = said.map(|mut said| said.read(&mut [0]));
        match said.transpose()? {
            Some(1..) => Ok(kept),
            _ => Err(ErrorKind::PermissionDenied.into()),
        }
    }
}

impl Kept {
    /// Waits for the end of a process that was told to end, and kills one that does not hear it: one that was stopped, or that gets no core.
    fn ended(mut child: Child) {
        for _ in 0..LOOKS {
            // What cannot be waited for has ended.
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        drop(child.stdin.take());
        // Whoever serves something does not wait for it.
        let _ = std::thread::Builder::new().name("awake".into()).spawn(move || Kept::ended(child));
    }
}

/// How often, and for how long, the end of the process is looked for.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: u32 = 60;

/// How long cores stay awake behind the last thing that was to be in time.
const BEHIND: Nanos = Nanos::from_millis(1_000);

/// Keeps cores awake while something happens again and again. Whoever tells it waits for nothing: another thread asks.
#[derive(Debug, Default)]
pub struct Vigil {
    asked: Option<Receiver<Result<Awake>>>,
    held: Option<Awake>,
    refused: bool,
    last: Nanos,
}

impl Vigil {
    /// Something happens now.
    #[inline]
    pub fn keep(&mut self, now: Nanos) {
        self.last = now;
        if self.held.is_none() && self.asked.is_none() && !self.refused {
            let (answer, asked) = channel();
            // Nobody listens any more when this has ended meanwhile, and then the request ends as well.
            let asking = std::thread::Builder::new().name("awake".into()).spawn(move || answer.send(Awake::hold()));
            self.refused = asking.is_err();
            self.asked = Some(asked).filter(|_| !self.refused);
        }
    }

    /// Lets cores fall asleep when nothing has happened for a second; how long until then, while they do not.
    pub fn rest(&mut self, now: Nanos) -> Option<Nanos> {
        self.hear();
        if self.held.is_none() && self.asked.is_none() {
            return None;
        }
        let left = (self.last + BEHIND).saturating_sub(now);
        if left == Nanos::ZERO {
            (self.held, self.asked) = (None, None);
        }
        (left > Nanos::ZERO).then_some(left)
    }

    /// Takes the answer, when there is one.
    fn hear(&mut self) {
        match self.asked.as_ref().map(Receiver::try_recv) {
            Some(Ok(Ok(awake))) => (self.held, self.asked) = (Some(awake), None),
            Some(Ok(Err(_)) | Err(TryRecvError::Disconnected)) => (self.refused, self.asked) = (true, None),
            Some(Err(TryRecvError::Empty)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    const AT: fn(u64) -> Nanos = Nanos::from_millis;

    fn started(script: &str) -> Result<Kept> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Kept::wait_for(command.spawn()?)
    }

    #[test]
    fn cores_stay_awake_for_a_second_behind_the_last_event_while_they_are_kept_so() {
        assert_eq!(Vigil::default().rest(AT(5)), None);
        let (_answer, asked) = channel();
        let mut vigil = Vigil { asked: Some(asked), ..Vigil::default() };
        vigil.keep(AT(10));
        assert_eq!(vigil.rest(AT(10)), Some(AT(1_000)));
        vigil.keep(AT(500));
        assert_eq!(vigil.rest(AT(1_400)), Some(AT(100)));
        assert_eq!(vigil.rest(AT(1_500)), None);
        assert!(vigil.asked.is_none(), "the request ends with its answer");
    }

    #[test]
    fn who_is_refused_asks_once() {
        let (answer, asked) = channel();
        answer.send(Err(ErrorKind::PermissionDenied.into())).unwrap();
        let mut vigil = Vigil { asked: Some(asked), ..Vigil::default() };
        assert_eq!((vigil.rest(AT(1)), vigil.refused), (None, true));
        vigil.keep(AT(2));
        assert_eq!(vigil.rest(AT(2)), None);
    }

    #[test]
    fn a_process_that_keeps_cores_busy_is_waited_for_and_ends_with_the_request() {
        let folder = std::env::temp_dir().join(format!("prony-awake-{}", std::process::id()));
        let ended = folder.display();
        let kept = started(&format!("echo awake; cat; touch {ended}")).unwrap();
        assert!(!folder.exists());
        drop(kept);
        let mut looked = (0..LOOKS).inspect(|_| std::thread::sleep(LOOK));
        assert!(looked.any(|_| folder.exists()), "it saw the end of its input");
        std::fs::remove_file(folder).unwrap();
    }

    #[test]
    fn a_process_that_was_stopped_holds_nobody_up_and_is_killed() {
        let kept = started("echo awake; kill -STOP $$; cat").unwrap();
        let process = kept.0.as_ref().unwrap().id();
        let is = |state: &str| {
            let text = std::fs::read_to_string(format!("/proc/{process}/stat"));
            text.is_ok_and(|text| text.contains(state))
        };
        while !is(") T ") {
            std::thread::sleep(LOOK);
        }
        drop(kept);
        assert!(is(") T "), "nobody waited for it");
        while is(") T ") {
            std::thread::sleep(LOOK);
        }
    }

    #[test]
    fn a_process_that_may_not_keep_cores_busy_is_a_refusal() {
        assert_eq!(started("exit 2").unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
}
