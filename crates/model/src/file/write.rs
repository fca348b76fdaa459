//! A description as the text of a model file.

use super::{Before, Description, Parameter, configuration, transaction};
use std::fmt::Write as _;

/// The text that [`read`](super::read) reads back to the same description. Numbers are written with six digits, which is
/// finer than any of them is known.
pub fn write(description: &Description) -> String {
    let Description { title, kind, calibration, noise, .. } = description;
    let mut text = format!("title = {}\nkind  = \"{}\"\nnoise = \"{}%\"\n", quoted(title), kind.word(), noise * 100.0);
    let rows: Vec<String> = calibration.iter().map(|row| quoted(row)).collect();
    let _ =
        writeln!(text, "\n# Rows that it was fitted on; they are never judged.\ncalibration = [{}]", rows.join(", "));
    text += &description.transaction.map(transaction::text).unwrap_or_default();
    let said = kind.asks().iter().zip(&description.parameters).filter(|(_, parameter)| !parameter.left_out());
    for (asked, parameter) in said {
        let _ = write!(text, "\n# {}\n{}", asked.about, written(parameter));
    }
    for answer in &description.answers {
        let metrics: Vec<String> =
            answer.metrics.iter().map(|metric| format!("{} = {}", metric.column, quoted(&metric.quantity))).collect();
        let inputs: Vec<String> = answer.inputs.iter().map(|input| quoted(input)).collect();
        let _ = write!(
            text,
            "\n[answers.{}]\nmetrics = {{ {} }}\ninputs  = [{}]\nsize    = {}\n",
            answer.name,
            metrics.join(", "),
            inputs.join(", "),
            quoted(&answer.size)
        );
        if !answer.only.is_empty() {
            let cells: Vec<String> =
                answer.only.iter().map(|(column, cell)| format!("{column} = {}", quoted(cell))).collect();
            let _ = writeln!(text, "only    = {{ {} }}", cells.join(", "));
        }
        if let Some((low, high)) = answer.fitted {
            let _ = writeln!(text, "fitted  = [{}, {}]", number(low), number(high));
        }
    }
    text += &configuration::text(&description.configurations);
    if let Some(doubt) = &description.doubt {
        let _ = write!(text, "\n{}", doubt.text());
    }
    if let Some(discrepancy) = &description.discrepancy {
        let _ = write!(text, "\n{}", discrepancy.text());
    }
    text
}

fn written(parameter: &Parameter) -> String {
    let Parameter { name, value, unit, origin, low, high, before } = parameter;
    let mut text = format!(
        "[parameters.{name}]\nvalue = {}\nunit  = {}\nfrom  = {}\n",
        number(*value),
        quoted(unit),
        quoted(&origin.text())
    );
    if low < high {
        let _ = write!(text, "low   = {}\nhigh  = {}\n", number(*low), number(*high));
    }
    if let Some(Before { low, high, why }) = before {
        let _ =
            writeln!(text, "before = {{ low = {}, high = {}, why = {} }}", number(*low), number(*high), quoted(why));
    }
    text
}

/// At most six digits, so that a file can be read and still says all that is known.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        return format!("{value}");
    }
    let digits = (5 - libm::floor(libm::log10(value.abs())) as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '\\' | '"' => format!("\\{c}"),
        // None of these may stand in a string as it is.
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control character was written as it is, which no reader takes.
    #[test]
    fn texts_with_quotes_and_control_characters_are_read_back() {
        for shipped in crate::models() {
            let text = shipped.text.replace("assumed: ", "assumed: \\u001b[31m \\\"so\\\" \\\\ \\u009b ");
            let Ok(model) = crate::file::read("x", &text) else { panic!("{}", shipped.name) };
            assert!(crate::file::read("x", &write(&model)).is_ok(), "{}", shipped.name);
        }
    }
}
