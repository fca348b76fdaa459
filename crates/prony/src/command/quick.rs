//! `prony quick`: the study `quick` on a folder, with a size that fits it.
//!
//! The one idea: a first look must work wherever it is tried, so that a folder with little room gets smaller scratch
//! files instead of an error, and the difference is said. The embedded database keeps its file in the cache.

use crate::args::{Changes, Quick, Run};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use crate::run::{self, survey};
use crate::study_file::{self, StudyText};
use study::Place;
use units::Bytes;

/// The shipped study that this runs.
const STUDY: &str = "quick";

/// The system of its transactions; the folder is only asked for storage.
const EMBEDDED: &str = "sqlite=sqlite:";

/// The scratch file shrinks by halves down to this; below it, caches and file system metadata are all one sees.
const SIZE_MIN: Bytes = Bytes(16 << 20);

/// Room that is left alone beside the scratch file: the run file, the report, and whatever else lives there.
const SPARE: Bytes = Bytes(64 << 20);

/// Takes a first look.
pub fn run(asked: Quick) -> Result<Outcome, Failure> {
    let dir = folder(&asked)?;
    let text = study_file::find(STUDY)?;
    let changes = changes(&text, &dir, asked.voice.quiet)?;
    let mut run = Run { changes, output: asked.output, html: asked.html, seed: asked.seed, ..Run::default() };
    (run.json, run.voice) = (asked.json, asked.voice);
    let ended = run::start(&text, &run, &[], |_, _| None)?;
    run.html.get_or_insert_with(|| ended.path.with_extension("html"));
    run::tell(ended, &run)
}

/// The folder that is named, either way.
fn folder(asked: &Quick) -> Result<String, Failure> {
    let Some(on) = &asked.on else {
        return Ok(asked.dir.as_ref().map_or(".".to_owned(), |dir| dir.display().to_string()));
    };
    let reading = format!("reading --on {on}");
    let place = study::target(on).map_err(|problem| Failure::new(format!("{reading}: {problem}")))?.place;
    match place {
        Place::File { dirs } if matches!(dirs.as_slice(), [dir] if dir.device.is_none()) => Ok(dirs[0].path.clone()),
        other => Err(Failure::new(format!("{reading}: one folder, as it is, got `{}`", other.word()))
            .hint(format!("run the study on it: `prony run {STUDY} --on {on}`"))),
    }
}

/// Where to run, and how large when the study's own size does not fit.
fn changes(text: &StudyText, dir: &str, quiet: bool) -> Result<Changes, Failure> {
    let mut changes = Changes { on: vec![format!("here=file:{dir}"), EMBEDDED.to_owned()], ..Changes::default() };
    let study = study_file::read_or_fail(text, &changes, &[])?;
    let survey = survey::survey(study.systems())?;
    let free = survey.systems.first().and_then(|system| system.free).unwrap_or(Bytes(u64::MAX));
    let wanted = study.systems().first().and_then(|system| system.size).unwrap_or(SIZE_MIN);
    let Some(size) = fitting(wanted, free) else {
        return Err(Failure::new(format!(
            "looking at `{dir}`: {} of free space are needed, got {}",
            units::bytes(Bytes(SIZE_MIN.0 + SPARE.0)),
            units::bytes(free)
        ))
        .hint("make room, or name another folder: `prony quick DIR`"));
    };
    if size < wanted {
        if !quiet {
            output::note_line(&format!(
                "{} are free in {dir}: a scratch file of {} instead of {}; a small one tells less about the device",
                units::bytes(free),
                units::bytes(size),
                units::bytes(wanted)
            ));
        }
        changes.set.push(format!("size={}", units::bytes(size)));
    }
    Ok(changes)
}

/// The largest halving of `wanted` that leaves the spare room free.
fn fitting(wanted: Bytes, free: Bytes) -> Option<Bytes> {
    let room = free.0.checked_sub(SPARE.0)?;
    let mut size = wanted.0;
    while size > room {
        size /= 2;
    }
    // Whole mebibytes, so that the size can be said in a unit that everybody reads.
    let size = if size < wanted.0 { size >> 20 << 20 } else { size };
    (size >= SIZE_MIN.0.min(wanted.0)).then_some(Bytes(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_size_is_halved_until_it_fits_with_room_to_spare() {
        let fit = |free: u64| fitting(Bytes(1024 * MIB), Bytes(free * MIB)).map(|size| size.0 / MIB);
        assert_eq!(fit(5000), Some(1024));
        assert_eq!(fit(1088), Some(1024));
        assert_eq!(fit(1087), Some(512));
        assert_eq!(fit(200), Some(128));
        assert_eq!(fit(80), Some(16));
        assert_eq!(fit(79), None);
        assert_eq!(fit(10), None);
    }
}
