//! What stays on one line: an option with its setting, a number with its unit.

/// Units behind a number, and what is counted in them.
const UNITS: [&str; 35] = [
    "ns", "us", "ms", "s", "min", "h", "km", "B", "KiB", "MiB", "GiB", "TiB", "B/s", "kB/s", "MB/s", "GB/s", "/s",
    "k/s", "M/s", "/h", "k/h", "M/h", "k", "M", "IOPS", "TPS", "files/s", "cores", "core", "sessions", "session",
    "pairs", "trials", "CPUs", "more",
];

/// The text with no-break spaces where it must not be broken.
pub fn kept(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut kept = String::with_capacity(text.len());
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            let before = if at > 1 { words[at - 2] } else { "" };
            kept.push(if together(before, words[at - 1], word) { '\u{a0}' } else { ' ' });
        }
        kept.push_str(word);
    }
    kept
}

/// Whether a word is of the one before it, which has another one before.
fn together(before: &str, word: &str, next: &str) -> bool {
    let unit = next.trim_end_matches([',', ';', ':', '.', ')', '`', '’']);
    let thousands = matches!(word, "k" | "M") && is_number(before) && UNITS.contains(&unit);
    let setting = word.trim_start_matches(['(', '`']).starts_with("--") && next.contains('=');
    setting || thousands || (is_number(word) && UNITS.contains(&unit))
}

/// `48`, `(0.257–15`, `≥32.8`, `~5.1`, `-3`.
fn is_number(word: &str) -> bool {
    let bare = word.trim_start_matches(['(', '≥', '~', '-', '±']);
    let inside = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '–' | ',' | '\u{202f}');
    bare.starts_with(|first: char| first.is_ascii_digit()) && bare.chars().all(inside) && !bare.ends_with(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_keeps_its_setting_and_a_number_its_unit() {
        let told = |text: &str| kept(text).replace('\u{a0}', "_");
        assert_eq!(told("run it with --set measure=5s again"), "run it with --set_measure=5s again");
        assert_eq!(told("(`--set replicates=4`) and --resume goes"), "(`--set_replicates=4`) and --resume goes");
        assert_eq!(told("p99 at least 32.8 ms (48 ms seen), then"), "p99 at least 32.8_ms (48_ms seen), then");
        assert_eq!(told("(0.257–15 k TPS) at 8 sessions."), "(0.257–15_k_TPS) at 8_sessions.");
        assert_eq!(told("of 3, s is a letter; 2 of k TPS"), "of 3, s is a letter; 2 of k TPS");
        assert_eq!(told("  two  spaces "), "  two  spaces ");
    }
}
