//! What a study may say of a trace that is sent again.

use super::Trace;
use super::program::{Compiled, Program};
use crate::dataset::DataSet;
use crate::kind::{Around, Class, Ready, Transactions, Unready};
use reading::key::{Choice, Count, Text};
use reading::{Settings, keys};
use std::sync::Arc;

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// The trace whose statements are sent again, in its sessions.
    TRACE "trace": Text = Text("a file that `prony capture` wrote"), Is("");
    /// When the next transaction is due: in its session at its moment in the trace, which begins anew where it ends; or
    /// (`none`) as soon as any session is free, from one queue of all, so that the mix is the trace's.
    PACE "pace": Choice<bool> = Choice(&[("trace", true), ("none", false)]), Is("trace");
    /// How fast the trace goes, in percent: 200 sends the same statements in half of the time.
    SPEED "speed": Count = Count { min: 1, max: 10_000 }, Is("100");
}

/// A trace that a study names. It is read before anything is touched.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its path.
    pub trace: String,
    /// Whether its moments are kept.
    pub paced: bool,
    /// Its time over the time here.
    pub speed: f64,
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Asked {
    Asked { trace: settings.get(&TRACE), paced: settings.get(&PACE), speed: settings.get(&SPEED) as f64 / 100.0 }
}

impl Transactions for Asked {
    fn classes(&self) -> Vec<Class> {
        vec![Class::plain("transactions")]
    }

    /// The tables are those of whoever made the trace.
    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        None
    }

    fn paces_itself(&self) -> bool {
        self.paced
    }

    fn ready(&self, around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        let (action, path) = ("reading the trace", || self.trace.clone());
        if self.trace.is_empty() {
            return Err(Unready::Unnamed(
                "no trace is named: add `--set trace=FILE`, a file that `prony capture` wrote",
            ));
        }
        let text = (around.file)(&self.trace).map_err(|source| Unready::File { action, path: path(), source })?;
        let program = Trace::parse(&text).and_then(|trace| Program::new(self, &trace, around));
        let program = program.map_err(|problem| Unready::Script { action, path: path(), problem })?;
        Ok(Arc::new(Compiled(Arc::new(program), Arc::default())))
    }
}
