//! Writes the sample reports to a folder, to be looked at: `cargo run -p report --example pages -- FOLDER`.

#[path = "../tests/it/sample/mod.rs"]
mod sample;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let samples = [
        ("quick", sample::quick()),
        ("flash", sample::flash()),
        ("wide", sample::wide()),
        ("distinct", sample::distinct()),
    ];
    for (name, findings) in samples {
        std::fs::write(folder.join(format!("{name}.html")), report::html(&findings))?;
        std::fs::write(folder.join(format!("{name}.txt")), report::text(&findings, report::Layout::default()))?;
        let full =
            report::Layout { detail: report::Detail::Full, colour: report::Colour::Ansi, ..report::Layout::default() };
        std::fs::write(folder.join(format!("{name}-full.txt")), report::text(&findings, full))?;
        std::fs::write(folder.join(format!("{name}.json")), format!("{:#}", report::json(&findings)))?;
        std::fs::write(folder.join(format!("{name}.csv")), report::csv(&findings))?;
    }
    Ok(())
}
