//! Rust source as names and signs, without comments, literals and tests.
//!
//! The one idea: to know which paths a file names, the words in their order are enough; nothing here knows the grammar of
//! expressions, so that what stands inside of a macro is read like everything else.

/// A name, `::` or one sign, with the line that it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct Token<'a> {
    pub line: usize,
    pub text: &'a str,
}

impl Token<'_> {
    /// Whether this could be a part of a path.
    pub fn is_name(&self) -> bool {
        self.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    }
}

/// The tokens of a file; an item behind `#[cfg(test)]` is left out, and the modules so declared are named.
pub fn read(text: &str) -> (Vec<Token<'_>>, Vec<&str>) {
    without_tests(&tokens(text))
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let skipped = comment(rest).or_else(|| literal(rest));
        let length = skipped.unwrap_or_else(|| word(rest).max(first.len_utf8()));
        if skipped.is_none() && !first.is_whitespace() {
            tokens.push(Token { line, text: &rest[..length] });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// How long a name, a number or `::` at the beginning is; nothing for any other sign.
fn word(rest: &str) -> usize {
    if rest.starts_with("::") {
        return 2;
    }
    rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len())
}

fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.strip_prefix("/*").map(|inside| inside.find("*/").map_or(rest.len(), |end| end + 4))
}

/// How long a text or a character at the beginning is.
fn literal(rest: &str) -> Option<usize> {
    let quoted = rest.strip_prefix('b').or_else(|| rest.strip_prefix('c')).unwrap_or(rest);
    let prefix = rest.len() - quoted.len();
    if let Some(raw) = quoted.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let inside = &raw[hashes + 1..];
            let end = inside.find(&close).map_or(inside.len(), |end| end + close.len());
            return Some(prefix + 1 + hashes + 1 + end);
        }
    }
    let quote = quoted.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    // Behind a single quote without its partner stands the name of a lifetime.
    if quote == '\'' && !quoted[1..].starts_with('\\') && quoted[1..].chars().nth(1) != Some('\'') {
        return None;
    }
    let mut escaped = false;
    let end = quoted[1..].find(|next: char| {
        let closes = next == quote && !escaped;
        escaped = next == '\\' && !escaped;
        closes
    });
    Some(prefix + end.map_or(quoted.len(), |end| end + 2))
}

fn without_tests<'a>(tokens: &[Token<'a>]) -> (Vec<Token<'a>>, Vec<&'a str>) {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].iter().map(|token| token.text).take(MARK.len()).eq(MARK) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let start = at + MARK.len();
        at = start + item(&tokens[start..]);
        let module = tokens[start..at].windows(3).find(|three| three[0].text == "mod" && three[2].text == ";");
        modules.extend(module.map(|three| three[1].text));
    }
    (kept, modules)
}

/// How many tokens the item at the beginning has: up to its semicolon, or to the brace that closes it.
fn item(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && [";", "}"].contains(&token.text) {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        read(text).0.iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_literals_are_left_out_and_lifetimes_are_not_texts() {
        assert_eq!(words("a /* b */ // c\nd"), ["a", "d"]);
        assert_eq!(words(r####"a("b\"c", 'd', '\'', r#"e"f"#, b"g") h"####), words("a(,,,,) h"));
        assert_eq!(words("fn a<'b>(c: &'b d) {}"), words("fn a < ' b > ( c : & ' b d ) { }"));
    }

    #[test]
    fn lines_are_counted_through_texts() {
        let (tokens, _) = read("\"a\nb\"\nc::d");
        assert_eq!(tokens, [(3, "c"), (3, "::"), (3, "d")].map(|(line, text)| Token { line, text }));
    }

    #[test]
    fn tests_are_left_out_and_their_files_named() {
        let text = "use a;\n#[cfg(test)]\nuse b;\n#[cfg(test)]\nmod c;\n#[cfg(test)]\nmod d { use e; }\nuse f;\n";
        assert_eq!(words(text), words("use a; use f;"));
        assert_eq!(read(text).1, ["c"]);
    }
}
