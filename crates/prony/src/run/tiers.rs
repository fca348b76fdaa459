//! A look at the folders of tiers before anything is placed there.
//!
//! The one idea: what a run would refuse of them is refused by whoever reads the study: a folder that is not there, that holds what is
//! not ours, that the server cannot reach, or that lies in another; a device that no model describes.

use crate::failure::Failure;
use crate::model_file;
use std::path::{Path, PathBuf};
use study::{DatabaseSpec, Place, SystemSpec, TierFolder};
use system::survey;

/// A folder that was looked at, and whose it is, by its key.
type Seen<'a> = (PathBuf, &'a SystemSpec, &'a str, &'a TierFolder);

/// The key of where a mirror lies.
const MIRROR: &str = "mirror_device";

/// Looks at the tiers of all systems.
///
/// # Errors
/// At the first folder that cannot be one.
pub fn check(specs: &[SystemSpec]) -> Result<(), Failure> {
    let mut seen: Vec<Seen> = Vec::new();
    for spec in specs {
        let Place::Database(DatabaseSpec { engine, layout, mirror_on, .. }) = &spec.place else { continue };
        let tiers = layout.iter().flat_map(|layout| layout.folders()).map(|(tier, at)| (tier.word(), at));
        for (word, at) in tiers.chain(mirror_on.as_deref().into_iter().map(|at| (MIRROR, at))) {
            let folder = &at.folder;
            let looking = || format!("looking at `{}`, the `{word}` of system `{}`", folder.path, spec.name);
            let found = survey::folder(Path::new(&folder.path)).map_err(|error| {
                let hint = format!("make it with `mkdir -p {}`, or name another with `--set {word}=..`", folder.path);
                Failure::caused(looking(), &error).hint(hint)
            })?;
            database::server::fit(*engine, &found.path).map_err(|error| {
                Failure::caused(looking(), &error).hint(format!("name another folder with `--set {word}=..`"))
            })?;
            folder.device.as_deref().map_or(Ok(()), |model| stores(model, looking))?;
            let crosses = |(path, other, at, known): &&Seen| {
                let shared = known.folder == *folder && !(other.name == spec.name && *at != word);
                !shared && (path.starts_with(&found.path) || found.path.starts_with(path))
            };
            if let Some((.., other)) = seen.iter().find(crosses) {
                let what = format!("a folder that lies apart from `{}`, got `{folder}`", other.folder);
                let hint = "name folders of which none lies in another, each seen through one device";
                return Err(Failure::new(format!("{}: {what}", looking())).hint(hint));
            }
            seen.push((found.path, spec, word, at));
        }
    }
    Ok(())
}

/// The device of a folder is a model of storage.
fn stores(model: &str, looking: impl Fn() -> String) -> Result<(), Failure> {
    let found = model_file::find(model)?;
    if model::transactions(&found.model) || model::modules(&found.model).is_none() {
        let what = format!("{}: the model of a device that stores, got `{model}`", looking());
        return Err(Failure::new(what).hint("`prony emulate --help` says which models can be devices"));
    }
    Ok(())
}
