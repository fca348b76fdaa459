//! The texts of statements inside of procedures: their columns, and variables in the place of their parameters.
//!
//! What it does not do: it reads no SQL but ours. Texts begin with `select` in small letters and hold no string with a
//! bracket, a comma or a dollar sign.

/// The columns of a `select` and everything from its `from` on.
pub(super) fn split(sql: &str) -> (Vec<&str>, &str) {
    let list = sql.strip_prefix("select ").unwrap_or(sql);
    let (mut columns, mut depth, mut begun) = (Vec::new(), 0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                columns.push(list[begun..at].trim());
                begun = at + 1;
            }
            ' ' if depth == 0 && list[at..].starts_with(" from ") => {
                columns.push(list[begun..at].trim());
                return (columns, &list[at + 1..]);
            }
            _ => {}
        }
    }
    (columns, "")
}

/// The text with these in the place of its parameters.
pub(super) fn with(sql: &str, arguments: &[&str]) -> String {
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let number: usize = part[..digits].parse().unwrap_or(0);
        let argument = arguments.get(number.wrapping_sub(1)).copied().unwrap_or("null");
        // What follows LIMIT must be a bare name.
        let bare = argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match bare {
            true => text.push_str(argument),
            false => text.extend(["(", argument, ")"]),
        }
        text.push_str(&part[digits..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_cut_outside_of_brackets_only() {
        let sql = "select a.id, coalesce(sum(p.q * r), 0), t.x from (select id, x from trade) t where a = $1";
        let (columns, rest) = split(sql);
        assert_eq!(columns, ["a.id", "coalesce(sum(p.q * r), 0)", "t.x"]);
        assert_eq!(rest, "from (select id, x from trade) t where a = $1");
    }

    #[test]
    fn variables_take_the_place_of_parameters_and_sums_keep_together() {
        let sql = "select a from t where a = $2 and b in ($1, $12) limit $3";
        let names = ["p_1", "x + 1", "p_3", "", "", "", "", "", "", "", "", "p_12"];
        assert_eq!(with(sql, &names), "select a from t where a = (x + 1) and b in (p_1, p_12) limit p_3");
    }
}
