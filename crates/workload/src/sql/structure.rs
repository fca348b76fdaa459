//! Whether conditions and pipelines of a script open and close as they should.
//!
//! What it does not do: a pipeline that opens or closes under a condition is judged when it runs.

use super::command::{Action, Command};
use super::problem::ScriptPlace;

/// Conditions may lie this deep in each other: whoever reads them has lost count long before.
pub(super) const DEEPEST: u32 = 100;

/// Tells every place where the structure is wrong.
pub(super) fn check(commands: &[Command], textual: bool, tell: &mut dyn FnMut(ScriptPlace, String)) {
    conditions(commands, tell);
    pipelines(commands, textual, tell);
}

fn conditions(commands: &[Command], tell: &mut dyn FnMut(ScriptPlace, String)) {
    // Where each open condition began, and whether its \else was seen.
    let mut open: Vec<(ScriptPlace, bool)> = Vec::new();
    for command in commands {
        let mut wrong = |text: &str| tell(command.place, text.to_owned());
        match (&command.action, open.last_mut()) {
            (Action::If(_), _) => {
                if open.len() == DEEPEST as usize {
                    wrong(&format!("conditions are nested deeper than {DEEPEST}; make them several scripts"));
                }
                open.push((command.place, false));
            }
            (Action::Elif(_), None) => wrong("\\elif without matching \\if"),
            (Action::Elif(_), Some((_, true))) => wrong("\\elif after \\else"),
            (Action::Else, None) => wrong("\\else without matching \\if"),
            (Action::Else, Some((_, true))) => wrong("\\else after \\else"),
            (Action::Else, Some((_, seen))) => *seen = true,
            (Action::Endif, None) => wrong("\\endif without matching \\if"),
            (Action::Endif, Some(_)) => drop(open.pop()),
            _ => {}
        }
    }
    for (place, _) in open {
        tell(place, "\\if without matching \\endif".to_owned());
    }
}

fn pipelines(commands: &[Command], textual: bool, tell: &mut dyn FnMut(ScriptPlace, String)) {
    let mut depth = 0u32;
    let mut open: Option<ScriptPlace> = None;
    for command in commands {
        let pipeline = matches!(command.action, Action::StartPipeline | Action::SyncPipeline | Action::EndPipeline);
        if pipeline && textual {
            tell(command.place, "pipelines need protocol = extended or prepared".to_owned());
            continue;
        }
        match &command.action {
            Action::If(_) => depth += 1,
            Action::Endif => depth = depth.saturating_sub(1),
            // Which way a condition goes is not known here.
            _ if pipeline && depth > 0 => return,
            Action::StartPipeline if open.is_some() => tell(command.place, "already in a pipeline".to_owned()),
            Action::StartPipeline => open = Some(command.place),
            Action::SyncPipeline | Action::EndPipeline if open.is_none() => {
                tell(command.place, "not in a pipeline; open it with \\startpipeline".to_owned());
            }
            Action::EndPipeline => open = None,
            Action::Sql { keep: Some(_), .. } if open.is_some() => {
                tell(command.place, "\\gset and \\aset are not allowed in a pipeline".to_owned());
            }
            _ => {}
        }
    }
    if let Some(place) = open {
        tell(place, "the pipeline is never closed; close it with \\endpipeline".to_owned());
    }
}
