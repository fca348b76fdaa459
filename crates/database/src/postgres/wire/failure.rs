//! What an error message of the server means.

use crate::conversation::Fields;
use crate::session::told;
use crate::{Failure, FailureKind};

/// An error message, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) severity: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: String,
}

impl Said {
    pub(crate) fn of(body: &[u8]) -> Said {
        let (mut said, mut fields) = (Said::default(), Fields(body));
        while let Some(kind) = fields.u8().filter(|kind| *kind != 0) {
            let Some(text) = fields.text() else { break };
            let text = String::from_utf8_lossy(text).into_owned();
            match kind {
                // V is S in English, since 9.6.
                b'V' => said.severity = text,
                b'C' => said.code = text,
                b'M' => said.message = text,
                b'D' => said.detail = text,
                _ => {}
            }
        }
        said
    }

    /// Whether the server ends the conversation with it.
    pub(crate) fn last(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    pub(crate) fn text(&self) -> String {
        let detail = if self.detail.is_empty() { String::new() } else { format!(" ({})", told(&self.detail)) };
        format!("{}{detail}, SQLSTATE {}", told(&self.message), told(&self.code))
    }

    /// As a failure; `what` is what failed, when something is known of it.
    pub(crate) fn failure(&self, what: Option<&str>) -> Failure {
        let text = self.text();
        Failure::new(self.kind(), what.map_or(text.clone(), |what| format!("{what}: {text}")))
    }

    fn kind(&self) -> FailureKind {
        match self.code.as_str() {
            _ if self.last() => FailureKind::Lost,
            "40001" => FailureKind::Serialization,
            "40P01" | "55P03" => FailureKind::Deadlock,
            "53100" => FailureKind::Full,
            "42501" => FailureKind::Privilege,
            _ => FailureKind::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(severity: &str, code: &str) -> FailureKind {
        let body = format!("S{severity}\0V{severity}\0C{code}\0Mit says so\0\0");
        Said::of(body.as_bytes()).failure(None).kind
    }

    #[test]
    fn the_code_says_what_a_failure_means() {
        assert_eq!(kind("ERROR", "40001"), FailureKind::Serialization);
        assert_eq!(kind("ERROR", "40P01"), FailureKind::Deadlock);
        assert_eq!(kind("ERROR", "55P03"), FailureKind::Deadlock);
        assert_eq!(kind("ERROR", "53100"), FailureKind::Full);
        assert_eq!(kind("ERROR", "42501"), FailureKind::Privilege);
        assert_eq!(kind("ERROR", "23505"), FailureKind::Refused);
        assert_eq!(kind("FATAL", "57P01"), FailureKind::Lost);
    }

    #[test]
    fn a_failure_names_what_failed_and_the_code() {
        let said = Said::of(b"SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (a)=(1).\0\0");
        assert_eq!(said.failure(Some("insert a")).text, "insert a: duplicate key (Key (a)=(1).), SQLSTATE 23505");
        assert_eq!(Said::of(b"Mcut").message, "");
    }
}
