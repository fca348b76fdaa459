//! Escape sequences, when they are allowed. Every tone also has its word, so nothing is lost without them.

/// Whether escape sequences are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text: files, pipes, `NO_COLOR`.
    #[default]
    Plain,
    /// Sixteen-colour escape sequences.
    Ansi,
}

/// What a stretch of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Bold,
    Faint,
    Good,
    Bad,
    Open,
}

/// Applies styles, or leaves the text as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) Colour);

impl Paint {
    pub(super) fn with(self, style: Style, text: &str) -> String {
        if self.0 == Colour::Plain || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Bold => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Open => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
