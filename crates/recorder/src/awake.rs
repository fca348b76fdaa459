//! Cores that stay awake while something is served whose times are short.
//!
//! The one idea: a core with nothing to do falls asleep and wakes up late: by 20 to 60 us in a virtual machine, and on bare metal by what its
//! deepest state takes. Linux keeps all cores awake for as long as somebody holds a request that none may be late (the power management's
//! quality of service, `/dev/cpu_dma_latency`). Whoever wants a core has it as before: only an idle core waits awake.
//!
//! What it does not do: a user who may not ask for it goes without.

use std::fs::File;
use std::io::{Result, Write as _};
use units::Nanos;

/// Who asks for it.
const REQUESTS: &str = "/dev/cpu_dma_latency";

/// The request; it ends with this, also when the process is killed.
#[derive(Debug)]
pub struct Awake {
    _request: File,
}

impl Awake {
    /// Keeps all cores awake.
    ///
    /// # Errors
    /// This user may not, or the kernel does not know such requests.
    pub fn hold() -> Result<Awake> {
        let mut request = File::options().write(true).open(REQUESTS)?;
        // Microseconds, as a number of 32 bits.
        request.write_all(&0i32.to_ne_bytes())?;
        Ok(Awake { _request: request })
    }
}

/// How long cores stay awake behind the last thing that was to be in time.
const BEHIND: Nanos = Nanos::from_millis(1_000);

/// Keeps cores awake while something happens again and again.
#[derive(Debug, Default)]
pub struct Vigil {
    request: Option<Awake>,
    refused: bool,
    last: Nanos,
}

impl Vigil {
    /// Something happens now.
    #[inline]
    pub fn keep(&mut self, now: Nanos) {
        self.last = now;
        if self.request.is_none() && !self.refused {
            self.request = Awake::hold().ok();
            self.refused = self.request.is_none();
        }
    }

    /// Lets cores fall asleep when nothing has happened for a second; how long until then, while they do not.
    pub fn rest(&mut self, now: Nanos) -> Option<Nanos> {
        self.request.as_ref()?;
        let left = (self.last + BEHIND).saturating_sub(now);
        if left == Nanos::ZERO {
            self.request = None;
        }
        self.request.as_ref().map(|_| left)
    }
}

#[test]
fn cores_stay_awake_for_a_second_behind_the_last_event_where_they_may_be_kept_so() {
    let (at, mut vigil) = (Nanos::from_millis, Vigil::default());
    assert_eq!(vigil.rest(at(5)), None);
    vigil.keep(at(10));
    if Awake::hold().is_err() {
        assert_eq!((vigil.rest(at(10)), vigil.refused), (None, true));
        return;
    }
    assert_eq!(vigil.rest(at(10)), Some(at(1_000)));
    vigil.keep(at(500));
    assert_eq!(vigil.rest(at(1_400)), Some(at(100)));
    assert_eq!(vigil.rest(at(1_500)), None);
    vigil.keep(at(9_000));
    assert_eq!(vigil.rest(at(9_001)), Some(at(999)));
}
