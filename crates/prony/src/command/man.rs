//! `prony man`: the manual pages, made from the definitions of the help when they are asked for.

use crate::args::{Cli, Man};
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory as _;
use clap_mangen::Man as Page;
use std::fs;
use std::path::Path;

/// Prints the main page, or writes one page a command into a folder.
pub fn run(asked: &Man) -> Result<(), Failure> {
    // Building gives every command its full name, so that pages are called `prony-run` and not `run`.
    let mut cli = Cli::command();
    cli.build();
    match &asked.dir {
        None => output::print(&page(cli)?),
        Some(dir) => write_all(&cli, dir),
    }
}

fn write_all(cli: &clap::Command, dir: &Path) -> Result<(), Failure> {
    fs::create_dir_all(dir).map_err(|e| Failure::caused(format!("cannot make the folder `{}`", dir.display()), &e))?;
    write(dir, "prony", cli.clone())?;
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let name = format!("prony-{}", command.get_name());
        write(dir, &name, command.clone())?;
    }
    Ok(())
}

fn write(dir: &Path, name: &str, command: clap::Command) -> Result<(), Failure> {
    let path = dir.join(format!("{name}.1"));
    let text = page(command)?;
    fs::write(&path, text).map_err(|e| Failure::caused(format!("cannot write the page `{}`", path.display()), &e))?;
    output::note_line(&format!("wrote {}", path.display()));
    Ok(())
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Page::new(command).render(&mut text).map_err(|e| Failure::caused("cannot make the manual page", &e))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
