//! `prony tag RUN TAG`: labels for `list`. Observations never change.

use crate::args::Tag;
use crate::checked;
use crate::failure::Failure;
use crate::folder;
use crate::output;
use store::RunFile;

/// Adds tags, or takes them away, and prints those that the run has then.
pub fn run(asked: &Tag) -> Result<(), Failure> {
    asked.tags.iter().try_for_each(|tag| checked::tag(tag))?;
    let path = folder::find(&asked.choice.run)?;
    let doing = |error| Failure::caused(format!("changing the tags of the run `{}`", path.display()), &error);
    let mut file = RunFile::open_for_notes(&path).map_err(doing)?;
    let tags = changed(file.facts().map_err(doing)?.tags, &asked.tags, asked.remove);
    file.set_tags(&tags).map_err(doing)?;
    file.close().map_err(doing)?;
    output::print(&format!("{}\n", tags.join(" ")))
}

fn changed(mut tags: Vec<String>, wanted: &[String], remove: bool) -> Vec<String> {
    for tag in wanted {
        tags.retain(|known| known != tag);
        if !remove {
            tags.push(tag.clone());
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn a_tag_stands_once_and_leaves_when_told() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(changed(words(&["a", "b"]), &words(&["a", "c"]), false), ["b", "a", "c"]);
        assert_eq!(changed(words(&["a", "b"]), &words(&["a", "x"]), true), ["b"]);
    }
}
