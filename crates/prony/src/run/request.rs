//! What a run was asked for, checked: the same for `run` and `quick`.

use crate::args::{Backend, Run};
use crate::failure::Failure;
use crate::output::only_a_page;
use crate::study_file::{self, StudyText};
use reading::listed;
use std::fs;
use std::path::Path;
use study::Study;

/// The study of a request, with everything checked that can be checked before the machine is looked at.
///
/// # Errors
/// Problems of the study, a backend that does not fit, or an output that cannot be.
pub fn study(text: &StudyText, asked: &Run) -> Result<Study, Failure> {
    let study = study_file::read_or_fail(text, &asked.changes, &asked.fail_if)?;
    backend(asked.backend, &study)?;
    if let Some(path) = &asked.output {
        output(path)?;
    }
    if let Some(html) = asked.html.as_deref() {
        page(html)?;
        if asked.output.as_deref() == Some(html) {
            let text = format!("a run and its report need a file each, got `{}` for both", html.display());
            return Err(Failure::new(text).hint("name another file with --html"));
        }
    }
    Ok(study)
}

/// Models and scripted systems are simulated by nature, everything else is measured.
fn backend(asked: Option<Backend>, study: &Study) -> Result<(), Failure> {
    for system in study.systems() {
        let word = system.place.word();
        match asked {
            Some(Backend::Simulated) if !system.place.simulated() => {
                return Err(Failure::new(format!(
                    "choosing the backend of system `{}`: `simulated` needs a model, got a {word} system",
                    system.name
                ))
                .hint(format!("name a model: --on model:NAME, with one of {}", listed(crate::models::runnable())))
                .hint("or your own model file: --on model:./mine.toml")
                .hint("leave --backend out to measure the real system"));
            }
            Some(Backend::Measured) if system.place.simulated() => {
                return Err(Failure::new(format!(
                    "choosing the backend of system `{}`: a {word} system is simulated by nature, got `measured`",
                    system.name
                ))
                .hint("leave --backend out, or name a real system with --on"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A new file in a folder that is there. The file is made exclusively later; this tells it before minutes of work.
fn output(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.symlink_metadata().is_ok() {
        let failure = Failure::new(format!("writing the run to `{shown}`: a new file is needed, got one that exists"))
            .hint("give another name with -o");
        // A device or a page is no run to go on with.
        let is_run = path.is_file() && path.extension().is_some_and(|ending| ending == crate::folder::ENDING);
        return Err(match is_run {
            true => failure.hint(format!("or go on with it: `prony run --resume {}`", units::for_shell(shown))),
            false => failure,
        });
    }
    folder_of(path, "run")
}

/// The report is written when all has been measured; that it can be is known before.
///
/// # Errors
/// When its folder is not there, or no such file can be written.
pub fn page(path: &Path) -> Result<(), Failure> {
    folder_of(path, "report")?;
    only_a_page(path)?;
    let new = !path.exists();
    let opened = fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| {
        Failure::caused(format!("writing the report to `{}`", path.display()), &error)
            .hint("name another file with --html, or make the page later with `prony report`")
    })?;
    if new {
        // What was only made to see whether it can be.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

fn folder_of(path: &Path, what: &str) -> Result<(), Failure> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if dir.is_dir() {
        return Ok(());
    }
    let (shown, dir) = (path.display(), dir.display());
    Err(Failure::new(format!("writing the {what} to `{shown}`: a folder that exists is needed, got `{dir}`"))
        .hint(format!("make it with `mkdir -p {dir}`")))
}
