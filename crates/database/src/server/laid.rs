//! A private server whose parts a layout puts on two tiers.
//!
//! The one idea: all that a server has on a tier lies in one folder there, which carries our mark, and is reached through a link in the
//! server's own folder (`slow`, `fast`). So every path in configurations, tablespaces and copies stays the same, wherever the tier is
//! mounted today; `data` is such a link too, and a server with a layout lives like any other.
//!
//! What it does not do: which table lies where is told to the engine by SQL or by its own files.

use super::folder;
use super::owner::Owner;
use crate::DatabaseError;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use study::{Layout, Tier, TierFolder};

/// The file that says whose a folder on a tier is; a folder without it is none of ours.
const MARK: &str = "prony-server";

/// The file in the server's folder that says where its tiers are.
const TIERS: &str = "tiers";

/// What a file system has in its root by itself.
const OF_FILE_SYSTEM: &str = "lost+found";

/// The part that every server has.
pub(super) const DATA: &str = "data";

/// The part that holds tables and indexes which do not lie with the data.
pub(super) const TABLES: &str = "tables";

/// The part that holds temporary files, of which no copy is kept.
pub(super) const TEMPORARY: &str = "temporary";

/// A server's layout, with where its parts lie.
#[derive(Clone, Debug)]
pub struct Laid {
    pub(super) layout: Layout,
    /// The server's own folder.
    folder: PathBuf,
    /// The parts that the engine lays apart, the data first, each with its tier.
    parts: Vec<(&'static str, Tier)>,
}

/// So many bytes of a server's name stay in that of its folder with a layout: below a folder of 50 bytes, the socket of its mirror's wire has
/// a path that [`folder::fits`].
const NAME_KEPT: usize = 20;

/// What a server of this name is called with a layout: another layout, or other folders, is another server.
///
/// # Errors
/// When the folder of a tier is not there.
pub(super) fn name(name: &str, layout: &Layout) -> Result<String, DatabaseError> {
    let Layout { data, indexes, log, undo, temporary, ref objects, .. } = *layout;
    let mut text = format!("{:?}{objects:?}", [data, indexes, log, undo, temporary]);
    for (tier, at) in layout.folders() {
        let folder = Path::new(&at.folder.path);
        let real = folder.canonicalize().map_err(|source| DatabaseError::file("find", folder, source))?;
        text.push_str(&format!("{tier:?}{real:?}{:?}", at.folder.device));
    }
    // What is moved there lies elsewhere at the end of a trial, and is nobody else's.
    if let Some(moving) = layout.moving {
        text.push_str(&format!("{:?}", moving.way));
    }
    Ok(called(name, text))
}

/// A short name for what `text` says of a server of this name.
fn called(name: &str, mut text: String) -> String {
    let kept = name.get(..NAME_KEPT).unwrap_or(name);
    text.push_str(&name[kept.len()..]);
    format!("{kept}-{:08x}", number(text.as_bytes()) as u32)
}

/// A number that two texts hardly ever share.
fn number(text: &[u8]) -> u64 {
    let digest = ring::digest::digest(&ring::digest::SHA256, text);
    digest.as_ref().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Whether a folder can be a tier of a server of that owner: it is empty, or holds only what carries our mark; the server's user can
/// reach it, and nobody else may change it.
///
/// # Errors
/// [`DatabaseError::NotOurs`] with the first thing that does not carry it; who bars the way, or may change it.
pub(super) fn fits(folder: &Path, owner: &Owner) -> Result<(), DatabaseError> {
    let failed = |source| DatabaseError::file("list", folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != OF_FILE_SYSTEM && folder::read(&path.join(MARK)).is_none() {
            return Err(DatabaseError::NotOurs { place: folder.display().to_string(), name });
        }
    }
    let inside = folder.canonicalize().map_err(failed)?.join(MARK);
    let says = |text: String| Err(DatabaseError::file("use", folder, io::Error::other(text)));
    if let Some(open) = owner.unsafe_above(&inside) {
        let open = open.display();
        return says(format!(
            "root starts the server, and another user may change {open}; only root may make files there"
        ));
    }
    match owner.barred(&inside) {
        // One that was handed over to us, and holds nothing else, is opened for passing.
        Some(barred) if !handed_over(barred, &inside) => {
            let (user, barred) = (owner.name.as_deref().unwrap_or_default(), barred.display());
            says(format!(
                "the server runs as the user {user}, who may not pass {barred}; let others pass it (chmod o+x)"
            ))
        }
        _ => Ok(()),
    }
}

/// Whether what bars the way is the folder itself, and ours.
fn handed_over(barred: &Path, inside: &Path) -> bool {
    let ours = |data: fs::Metadata| data.uid() == rustix::process::geteuid().as_raw();
    inside.parent() == Some(barred) && fs::metadata(barred).is_ok_and(ours)
}

/// The name of a server's folder on its tiers.
fn home(folder: &Path) -> String {
    format!("prony-{:016x}", number(folder.as_os_str().as_encoded_bytes()))
}

/// A new folder of ours there, for what a run alone keeps there; one that an earlier run has left is emptied.
///
/// # Errors
/// When nothing can be made there.
pub fn scratch(there: &Path) -> Result<(), DatabaseError> {
    folder::remove(there)?;
    fs::create_dir(there).map_err(|source| DatabaseError::file("make", there, source))?;
    folder::write(&there.join(MARK), "extents that move")
}

/// The folder of a database without a server on the tier of its data, made when it is not there.
///
/// # Errors
/// When the tier holds something that is not ours, or nothing can be made there.
pub(crate) fn embedded(cache: &Path, layout: &Layout) -> Result<PathBuf, DatabaseError> {
    let at = layout.folder(layout.data).map_or(Path::new("."), |at| Path::new(&at.reached));
    fits(at, &Owner::myself())?;
    let own = std::path::absolute(cache).map_err(|source| DatabaseError::file("find", cache, source))?;
    let there = at.join(home(&own));
    folder::ours(&there, &Owner::myself())?;
    if marked(&there).is_none() {
        folder::write(&there.join(MARK), &own.to_string_lossy())?;
    }
    Ok(there)
}

/// The folders in which parts of the server of a folder lie: itself, and on its tiers.
pub(super) fn homes(folder: &Path) -> [PathBuf; 3] {
    let on = |tier: Tier| folder.join(tier.word()).join(home(folder));
    [folder.to_path_buf(), on(Tier::Slow), on(Tier::Fast)]
}

/// Removes what the server of a folder has on its tiers: of each folder that carries its mark.
pub(super) fn remove(folder: &Path) -> Result<(), DatabaseError> {
    for tier in folder::read(&folder.join(TIERS)).unwrap_or_default().lines() {
        let there = Path::new(tier).join(home(folder));
        if marked(&there).as_deref() == folder.to_str() {
            folder::remove(&there)?;
        }
    }
    Ok(())
}

/// Whose a folder on a tier is.
fn marked(there: &Path) -> Option<String> {
    folder::read(&there.join(MARK))
}

impl Laid {
    /// The layout of the server in a folder, of which the engine lays these parts apart from the data.
    pub(super) fn of(layout: &Layout, folder: &Path, apart: Vec<(&'static str, Tier)>) -> Laid {
        let parts = [(DATA, layout.data)].into_iter().chain(apart).collect();
        Laid { layout: layout.clone(), folder: folder.to_path_buf(), parts }
    }

    /// A server of which everything lies in one folder elsewhere.
    pub(super) fn whole(at: &TierFolder, folder: &Path) -> Laid {
        let tier = Tier::Slow;
        let layout = Layout {
            name: "apart".to_owned(),
            data: tier,
            indexes: tier,
            log: tier,
            undo: tier,
            temporary: tier,
            objects: Vec::new(),
            moving: None,
            passing: false,
            slow: Some(Box::new(at.clone())),
            fast: None,
        };
        Laid::of(&layout, folder, Vec::new())
    }

    /// All parts but the data.
    pub(super) fn apart(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        self.parts.iter().skip(1).map(|(part, tier)| (*part, self.on(*tier).join(part)))
    }

    /// Where a part lies, if it has a place of its own.
    pub(super) fn part(&self, name: &str) -> Option<PathBuf> {
        let (part, tier) = self.parts.iter().find(|(part, _)| *part == name)?;
        Some(self.on(*tier).join(part))
    }

    /// Where the data lies.
    pub(super) fn data(&self) -> PathBuf {
        self.on(self.layout.data).join(DATA)
    }

    /// The server's folder on a tier.
    fn on(&self, tier: Tier) -> PathBuf {
        self.folder.join(tier.word()).join(home(&self.folder))
    }

    /// Whether the way to each tier is there, as it is today.
    pub(super) fn is_reached(&self) -> bool {
        self.layout.folders().all(|(tier, at)| {
            let now = fs::read_link(self.folder.join(tier.word()));
            matches!((now, std::path::absolute(&at.reached)), (Ok(now), Ok(wanted)) if now == wanted)
        })
    }

    /// Makes the way to each tier and the server's folder there.
    ///
    /// # Errors
    /// When a tier holds something that is not ours, or its folder is none that the server's user can reach or that another user may
    /// change.
    pub(super) fn reach(&self, owner: &Owner) -> Result<(), DatabaseError> {
        let absolute = |path: &str| {
            std::path::absolute(path).map_err(|source| DatabaseError::file("find", Path::new(path), source))
        };
        self.layout.folders().try_for_each(|(_, at)| fits(Path::new(&at.reached), owner))?;
        let tiers = self.layout.folders().map(|(_, at)| absolute(&at.folder.path));
        let tiers: Vec<PathBuf> = tiers.collect::<Result<_, _>>()?;
        // Before the first folder there is made, so that whoever removes the server finds all of them, those of earlier devices too.
        let told = folder::read(&self.folder.join(TIERS)).unwrap_or_default();
        let mut all: Vec<String> = told.lines().map(str::to_owned).collect();
        all.extend(
            tiers.iter().map(|tier| tier.display().to_string()).filter(|tier| !told.lines().any(|one| one == tier)),
        );
        folder::write(&self.folder.join(TIERS), &all.iter().map(|tier| format!("{tier}\n")).collect::<String>())?;
        for (tier, at) in self.layout.folders() {
            let reached = Path::new(&at.reached);
            if owner.barred(&reached.join(MARK)) == Some(reached) {
                let mode = fs::metadata(reached).map_or(0o700, |data| data.mode());
                let opened = fs::set_permissions(reached, fs::Permissions::from_mode(mode | 0o001));
                opened.map_err(|source| DatabaseError::file("open", reached, source))?;
            }
            link(&absolute(&at.reached)?, &self.folder.join(tier.word()))?;
            let on = self.on(tier);
            folder::ours(&on, owner)?;
            if marked(&on).as_deref() != self.folder.to_str() {
                folder::write(&on.join(MARK), &self.folder.to_string_lossy())?;
            }
        }
        let data = Path::new(self.layout.data.word()).join(home(&self.folder)).join(DATA);
        link(&data, &self.folder.join(DATA))?;
        self.apart().try_for_each(|(_, path)| folder::given(&path, owner))
    }

    /// Empties all parts but the data.
    pub(super) fn clear(&self, owner: &Owner) -> Result<(), DatabaseError> {
        self.apart().try_for_each(|(_, path)| {
            folder::remove(&path)?;
            folder::given(&path, owner)
        })
    }
}

/// A link of ours, in place of the link that is there.
fn link(to: &Path, at: &Path) -> Result<(), DatabaseError> {
    if fs::read_link(at).is_ok_and(|now| now == to) {
        return Ok(());
    }
    folder::gone(at)?;
    symlink(to, at).map_err(|source| DatabaseError::file("link", at, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_of_a_mirrored_server_with_a_layout_has_a_path_that_the_system_takes() {
        let [two, twenty] =
            ["200", "2000"].map(|many| called(&format!("prony_brokerage_desk_{many}_5_1"), "slow".into()));
        assert_ne!(two, twenty, "what is cut off a name counts in its number");
        assert_eq!(called("prony_bank", "slow".into()), format!("prony_bank-{:08x}", number(b"slow") as u32));
        let cache = Path::new("/var/cache/prony/root-.cache-prony/postgres-15");
        for wire in ["wire", "back", "sync"] {
            folder::fits(&folder::beside(&cache.join(&two), "mirror").join(wire).join(".s.PGSQL.65535")).unwrap();
        }
    }
}
