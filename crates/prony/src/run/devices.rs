//! Whether the devices of a study may be written, as they are now: for who plans, before anything is.
//!
//! The one idea: the refusal of a run comes after its plan was said and its generator measured; who plans wants it first, with
//! the consent to copy. It is no error of the plan: what is mounted now may be free tonight.

use serde_json::{Value, json};
use std::path::Path;
use study::{Place, Study};
use system::consent::Consent;
use system::device::{self, OpenError};
use system::safety::{Approved, Refusal};

/// One device that would be written.
pub struct Judged<'a> {
    system: &'a str,
    path: &'a str,
    verdict: Result<Approved, OpenError>,
}

/// Judges every device that a study would write. Devices are read for that, and nothing else.
pub fn judged<'a>(study: &'a Study, consents: &[Consent]) -> Vec<Judged<'a>> {
    let of = |place: &'a Place| match place {
        Place::Device { paths, fill: true } => paths.as_slice(),
        _ => &[],
    };
    let systems = study.systems().iter().map(|spec| (spec.name.as_str(), of(&spec.place)));
    let judge = |(system, path): (&'a str, &'a String)| Judged {
        system,
        path,
        verdict: device::judge(Path::new(path), consents),
    };
    systems.flat_map(|(system, paths)| paths.iter().map(move |path| (system, path))).map(judge).collect()
}

impl Judged<'_> {
    /// The lines of a plan.
    pub fn lines(&self) -> Vec<String> {
        let Judged { system, path, .. } = self;
        let reasons = match &self.verdict {
            Ok(approved) => {
                return vec![format!("given for {path} of `{system}` ({}): all that it holds is lost", approved.id)];
            }
            Err(OpenError::Refused(refusal)) => refusal.reasons(),
            Err(error) => crate::failure::chain(error),
        };
        let head = format!("`prony run` would not write {path} of `{system}` now:");
        std::iter::once(head).chain(reasons.iter().map(|reason| format!("  {reason}"))).collect()
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let refusal = match &self.verdict {
            Err(OpenError::Refused(refusal)) => Some(refusal.as_ref()),
            _ => None,
        };
        let obstacles: Vec<String> = match (&self.verdict, refusal) {
            (_, Some(refusal)) => refusal.obstacles.iter().map(ToString::to_string).collect(),
            (Err(error), None) => vec![error.to_string()],
            (Ok(_), None) => Vec::new(),
        };
        json!({
            "system": self.system, "path": self.path, "writable": self.verdict.is_ok(), "obstacles": obstacles,
            "consent": refusal.and_then(Refusal::option),
        })
    }
}
