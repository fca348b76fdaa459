//! Rust source as names and signs, without comments, literals and tests.
//!
//! The one idea: to know which paths a file names, the words in their order are enough; nothing here knows the grammar of
//! expressions, so that what stands inside of a macro is read like everything else.

use proc_macro2::Spacing::Joint;
use proc_macro2::{Span, TokenStream, TokenTree};

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
    flatten(text, text.parse().unwrap_or_default(), &mut tokens);
    tokens
}

/// Adds what is read of `text`, in order and without its literals; the compiler's own reader has left out comments.
fn flatten<'a>(text: &'a str, trees: TokenStream, tokens: &mut Vec<Token<'a>>) {
    let token = |span: Span| Token { line: span.start().line, text: &text[span.byte_range()] };
    let mut joins = false;
    for tree in trees {
        let joined = std::mem::replace(&mut joins, matches!(&tree, TokenTree::Punct(sign) if sign.spacing() == Joint));
        match (tree, tokens.last_mut()) {
            (TokenTree::Literal(_), _) => {}
            (TokenTree::Group(group), _) => {
                tokens.push(token(group.span_open()));
                flatten(text, group.stream(), tokens);
                tokens.push(token(group.span_close()));
            }
            (TokenTree::Punct(sign), Some(last)) if joined && sign.as_char() == ':' && last.text == ":" => {
                last.text = "::"
            }
            (other, _) => tokens.push(token(other.span())),
        }
    }
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
        let lifetimes: Vec<&str> = "fn a < ' b > ( c : & ' b d ) { }".split(' ').collect();
        assert_eq!(words("fn a<'b>(c: &'b d) {}"), lifetimes);
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
