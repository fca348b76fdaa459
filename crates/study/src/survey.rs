//! What a survey of the machine says that bears on a plan.
//!
//! The one idea: the survey is handed in as a value, so that planning stays pure.
//!
//! What it does not do: it looks at nothing itself; the room of systems makes it.

use units::Bytes;

/// What the systems of a study turned out to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// One a system; a system that is missing is taken to offer all that is asked for.
    pub systems: Vec<SurveyedSystem>,
    /// Processors of the machine; none where nobody looked.
    pub cores: Option<u32>,
    /// Why servers cannot be held to some of them; none where they can, or nobody looked.
    pub unheld: Option<String>,
}

/// One system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedSystem {
    /// Its name in the study.
    pub name: String,
    /// How many modules it can offer; none when it can make as many as asked for.
    pub modules_max: Option<u32>,
    /// The largest size of a module; of several devices, the smallest one's. None when only free space limits it.
    pub size_max: Option<Bytes>,
    /// The smallest unit that direct transfers must be a multiple of.
    pub sector: Bytes,
    /// Free space for scratch files, all modules together.
    pub free: Option<Bytes>,
    /// Answers by itself: nothing is filled and nothing is written.
    pub null_or_scripted: bool,
    /// It is asked for transactions; storage is asked for operations.
    pub transactions: bool,
    /// io_uring may be used where it lies.
    pub ring: bool,
    /// What can happen to it while it is loaded, in a word, and below which number a part of it lies; none when it takes whatever
    /// is asked for.
    pub happens: Option<Vec<(String, u32)>>,
    /// Whether parts of it are lost before anything happens.
    pub loses: bool,
    /// What a described machine makes of the keys; none of what is measured.
    pub described: Option<DescribedKeys>,
}

/// What a kind of described machine makes of the keys of a study. One that is in neither list must stay at its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribedKeys {
    /// The kind, in a word.
    pub kind: String,
    /// Keys that move its answers.
    pub answered: Vec<&'static str>,
    /// Keys that may be set and move nothing.
    pub held: Vec<&'static str>,
}

impl Survey {
    /// The system of that name.
    pub fn of(&self, name: &str) -> Option<&SurveyedSystem> {
        self.systems.iter().find(|system| system.name == name)
    }
}
