//! Values of blocks as texts: transfer sizes with their weights, and preferred offsets.

use super::{Hotspot, Offsets, Transfer};
use reading::key::{Domain, Span};
use reading::{Entry, Form};
use units::{Bytes, Share};

/// One size, or a mixture of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfers {
    /// Smallest.
    pub min: Bytes,
    /// Largest.
    pub max: Bytes,
}

impl Domain for Transfers {
    type Value = Vec<Transfer>;

    fn read(&self, text: &str) -> Result<Vec<Transfer>, String> {
        let transfers = transfers(text)?;
        let fits = transfers.iter().all(|transfer| (self.min..=self.max).contains(&transfer.size));
        if fits { Ok(transfers) } else { Err(self.refused(text)) }
    }

    fn allowed(&self) -> String {
        format!("a size from {} to {}, or a mixture of sizes", units::bytes(self.min), units::bytes(self.max))
    }

    fn number(&self, value: &Vec<Transfer>) -> Option<f64> {
        if let [only] = value.as_slice() { Some(only.size.0 as f64) } else { None }
    }
}

/// `uniform`, `zipf ..`, `hotspot ..`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffsetsOf;

impl Domain for OffsetsOf {
    type Value = Offsets;

    fn read(&self, text: &str) -> Result<Offsets, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["uniform"] => Ok(Offsets::Uniform),
            ["zipf", exponent] => zipf(exponent),
            ["hotspot", operations, "to", blocks] => hotspot(operations, blocks),
            _ => Err(format!("one of {}, got `{text}`", self.allowed())),
        }
    }

    fn allowed(&self) -> String {
        "`uniform`, `zipf 0.99` or `hotspot 90% to 10%`".to_owned()
    }

    /// `{ zipf = 0.99 }` and `{ hotspot = { operations = "90%", blocks = "10%" } }`.
    fn spelled(&self, entries: &[Entry]) -> Option<Result<String, String>> {
        let form = "`uniform`, `{ zipf = 0.99 }` or `{ hotspot = { operations = \"90%\", blocks = \"10%\" } }`, got another \
                    table";
        let text = match entries {
            [Entry { name, node, .. }] => match (name.as_str(), &node.form) {
                ("zipf", Form::Text(exponent)) => Ok(format!("zipf {exponent}")),
                ("hotspot", Form::Table(shares)) => spot(shares).ok_or_else(|| form.to_owned()),
                _ => Err(form.to_owned()),
            },
            _ => Err(form.to_owned()),
        };
        Some(text.and_then(|text| self.read(&text).map(|_| text)))
    }
}

/// The text of a hot spot that was spelled out.
fn spot(shares: &[Entry]) -> Option<String> {
    let share = |name: &str| match &shares.iter().find(|entry| entry.name == name)?.node.form {
        Form::Text(text) => Some(text),
        _ => None,
    };
    (shares.len() == 2).then_some(())?;
    Some(format!("hotspot {} to {}", share("operations")?, share("blocks")?))
}

fn share(text: &str) -> Result<Share, String> {
    Span { min: Share(f64::NEG_INFINITY), max: Share(f64::INFINITY) }.read(text)
}

/// Reads transfer sizes: `4 KiB`, or a mixture such as `70% 4 KiB + 30% 64 KiB`.
fn transfers(text: &str) -> Result<Vec<Transfer>, String> {
    if !text.contains('+') && !text.contains('%') {
        let size = units::parse_bytes(text).map_err(|error| error.to_string())?;
        return Ok(vec![Transfer { size, weight: 1.0 }]);
    }
    let parts = text.split('+').map(|part| weighted(part.trim())).collect::<Result<Vec<Transfer>, String>>()?;
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if (total - 1.0).abs() > 1e-9 {
        return Err(format!("the shares of a mixture add up to 100%, got {}", units::percent(total)));
    }
    Ok(parts)
}

fn weighted(part: &str) -> Result<Transfer, String> {
    let form = || format!("a part of a mixture is a share and a size, as in `70% 4 KiB`, got `{part}`");
    let (weight, size) = part.split_once('%').ok_or_else(form)?;
    let weight = share(&format!("{weight}%"))?.0;
    let size = units::parse_bytes(size).map_err(|error| error.to_string())?;
    if weight > 0.0 { Ok(Transfer { size, weight }) } else { Err(form()) }
}

/// Reads the exponent of Zipf's law.
fn zipf(text: &str) -> Result<Offsets, String> {
    let refused = || format!("a zipf exponent lies above 0 and at most 4, and is not 1 within 0.000001, got `{text}`");
    let exponent: f64 = text.parse().map_err(|_| refused())?;
    if exponent > 0.0 && exponent <= 4.0 && (exponent - 1.0).abs() > 1e-6 {
        Ok(Offsets::Zipf { exponent })
    } else {
        Err(refused())
    }
}

/// Reads the two shares of a hot spot.
fn hotspot(operations: &str, blocks: &str) -> Result<Offsets, String> {
    let (operations, blocks) = (share(operations)?, share(blocks)?);
    if blocks.0 <= 0.0 || blocks.0 >= 1.0 {
        return Err(format!("the hot blocks are more than 0% and less than 100%, got {}", units::percent(blocks.0)));
    }
    Ok(Offsets::Hotspot(Hotspot { operations, blocks }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mixture_keeps_its_weights_and_must_add_up() {
        assert_eq!(
            transfers("70% 4 KiB + 30% 64 KiB"),
            Ok(vec![Transfer { size: Bytes::kib(4), weight: 0.7 }, Transfer { size: Bytes::kib(64), weight: 0.3 }])
        );
        assert!(transfers("70% 4 KiB + 40% 8 KiB").unwrap_err().contains("110%"));
        assert!(transfers("4096").unwrap_err().contains("no unit"));
    }

    #[test]
    fn offsets_are_read_from_words() {
        assert_eq!(OffsetsOf.read("zipf 0.99"), Ok(Offsets::Zipf { exponent: 0.99 }));
        assert!(OffsetsOf.read("zipf 1").is_err());
        let hot = Hotspot { operations: Share(0.9), blocks: Share(0.1) };
        assert_eq!(OffsetsOf.read("hotspot 90% to 10%"), Ok(Offsets::Hotspot(hot)));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_value_panic(text in ".{0,32}") {
            let _ = (transfers(&text), OffsetsOf.read(&text));
        }
    }
}
