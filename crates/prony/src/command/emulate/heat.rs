//! `prony emulate --heat`: what the tiers of a mount saw, by file.
//!
//! The one idea: a file is a strip of letters, so that a hot spot is seen at a glance, and whether it lies on the fast tier.

use crate::args::Emulate;
use crate::failure::Failure;
use crate::output;
use std::collections::BTreeMap;

/// An extent as its mount tells it.
struct Extent {
    number: u64,
    fast: bool,
    heat: f64,
    reads: u64,
    writes: u64,
}

/// Prints the heat that the tiers of a mount saw, the hottest file first.
pub(super) fn print(asked: &Emulate) -> Result<(), Failure> {
    let doing = || format!("reading the heat at `{}`", asked.at.display());
    let told = emulate::heat(&asked.at).map_err(|error| {
        Failure::caused(doing(), &error).hint("name the folder at which `prony emulate tiered` serves with --at")
    })?;
    let (counts, lines) = told.split_once('\n').unwrap_or_default();
    let counts: Vec<u64> = counts.split('\t').filter_map(|count| count.parse().ok()).collect();
    let &[on_fast, on_slow, up, down] = &counts[..] else { return Err(Failure::new(doing())) };
    let mut files: BTreeMap<&str, Vec<Extent>> = BTreeMap::new();
    for line in lines.lines() {
        let mut words = line.rsplitn(6, '\t');
        let mut next = || words.next().unwrap_or_default();
        let (writes, reads, heat, tier, number) = (next(), next(), next(), next(), next());
        let whole = |text: &str| text.parse().unwrap_or(0);
        let heat = heat.parse().unwrap_or(0.0);
        let extent =
            Extent { number: whole(number), fast: tier == "fast", heat, reads: whole(reads), writes: whole(writes) };
        files.entry(next()).or_default().push(extent);
    }
    let sum = |extents: &[Extent]| extents.iter().map(|extent| extent.heat).sum::<f64>();
    let mut files: Vec<(&str, Vec<Extent>)> = files.into_iter().collect();
    files.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
    if asked.json {
        return output::print_json(&as_json(&files, (on_fast, on_slow), (up, down)));
    }
    let all: f64 = files.iter().map(|(_, extents)| sum(extents)).sum();
    let mut text = format!(
        "{} of operations went to the fast tier; {} extents moved up and {} down\n\n{:>6}  {:>9}  {:<40}  file\n",
        units::percent(on_fast as f64 / (on_fast + on_slow).max(1) as f64),
        up,
        down,
        "heat",
        "fast",
        "from the beginning of the file to its end; capitals lie fast"
    );
    for (name, extents) in &files {
        let fast = extents.iter().filter(|extent| extent.fast).count();
        let share = units::percent(sum(extents) / all.max(f64::MIN_POSITIVE));
        text.push_str(&format!("{share:>6}  {:>5} MiB  {:<40}  {name}\n", fast, strip(extents)));
    }
    output::print(&text)
}

/// A file as forty letters, from `a` (cold) to `j` (the hottest place of the file); a capital where more lies fast than slow.
fn strip(extents: &[Extent]) -> String {
    const PLACES: u64 = 40;
    let last = extents.iter().map(|extent| extent.number).max().unwrap_or(0) + 1;
    let each = last.div_ceil(PLACES).max(1);
    let places: Vec<(f64, i64)> = (0..last.div_ceil(each))
        .map(|place| {
            let here = extents.iter().filter(|extent| extent.number / each == place);
            here.fold((0.0, 0), |(heat, fast), extent| (heat + extent.heat, fast + if extent.fast { 1 } else { -1 }))
        })
        .collect();
    let most = places.iter().map(|(heat, _)| *heat).fold(f64::MIN_POSITIVE, f64::max);
    let letter = |(heat, fast): &(f64, i64)| {
        let letter = char::from(b'a' + (9.0 * heat / most).round() as u8);
        if *fast > 0 { letter.to_ascii_uppercase() } else { letter }
    };
    places.iter().map(letter).collect()
}

fn as_json(files: &[(&str, Vec<Extent>)], (fast, slow): (u64, u64), (up, down): (u64, u64)) -> serde_json::Value {
    let extent = |extent: &Extent| {
        let tier = if extent.fast { "fast" } else { "slow" };
        let Extent { number, heat, reads, writes, .. } = extent;
        serde_json::json!({ "extent": number, "tier": tier, "heat": heat, "reads": reads, "writes": writes })
    };
    let file = |(name, extents): &(&str, Vec<Extent>)| {
        serde_json::json!({
            "file": name,
            "heat": extents.iter().map(|extent| extent.heat).sum::<f64>(),
            "fast_bytes": extents.iter().filter(|extent| extent.fast).count() << 20,
            "extents": extents.iter().map(extent).collect::<Vec<_>>(),
        })
    };
    serde_json::json!({
        "schema": "prony/emulate-heat/1",
        "operations": { "fast": fast, "slow": slow },
        "moved": { "up": up, "down": down },
        "extent_bytes": 1 << 20,
        "files": files.iter().map(file).collect::<Vec<_>>(),
    })
}
