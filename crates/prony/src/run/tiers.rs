//! A look at the folders of tiers before anything is placed there.
//!
//! The one idea: what a run would refuse of them is refused by whoever reads the study: a folder that is not there, that holds what is
//! not ours, or that lies in another; a device that no model describes.

use crate::failure::Failure;
use crate::model_file;
use std::path::{Path, PathBuf};
use study::{DatabaseSpec, Place, SystemSpec, Tier, TierFolder};
use system::survey;

/// Looks at the tiers of all systems.
///
/// # Errors
/// At the first folder that cannot be one.
pub fn check(specs: &[SystemSpec]) -> Result<(), Failure> {
    let mut seen: Vec<(PathBuf, &TierFolder)> = Vec::new();
    for (spec, tier, at) in specs.iter().flat_map(of) {
        let (word, folder) = (tier.word(), &at.folder);
        let looking = || format!("looking at the {word} tier of system `{}`, `{}`", spec.name, folder.path);
        let found = survey::folder(Path::new(&folder.path)).map_err(|error| {
            let hint =
                format!("make it with `mkdir -p {}`, or name another folder with `--set {word}=..`", folder.path);
            Failure::caused(looking(), &error).hint(hint)
        })?;
        database::server::fit(&found.path).map_err(|error| {
            let hint = format!(
                "name an empty folder with `--set {word}=..`, or one that holds nothing but what Prony placed there"
            );
            Failure::caused(looking(), &error).hint(hint)
        })?;
        if let Some(model) = &folder.device {
            stores(model, looking)?;
        }
        let nested = |(path, other): &&(PathBuf, &TierFolder)| {
            other.folder != *folder && (path.starts_with(&found.path) || found.path.starts_with(path))
        };
        if let Some((_, other)) = seen.iter().find(nested) {
            let what =
                format!("{}: a folder that lies apart from the others, got one beside `{}`", looking(), other.folder);
            return Err(Failure::new(what).hint("name folders of which none lies in another"));
        }
        seen.push((found.path, at));
    }
    Ok(())
}

/// The tiers of a system.
fn of(spec: &SystemSpec) -> impl Iterator<Item = (&SystemSpec, Tier, &TierFolder)> {
    let layout = match &spec.place {
        Place::Database(DatabaseSpec { layout, .. }) => layout.as_ref(),
        _ => None,
    };
    layout.into_iter().flat_map(|layout| layout.folders()).map(move |(tier, at)| (spec, tier, at))
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
