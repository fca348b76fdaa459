//! Scratch files on the filesystem of the temporary folder.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::PathBuf;

use system::file::{Scratch, ScratchError, ScratchSpec, abandoned};
use system::{Access, ModuleKind};
use units::Bytes;

use crate::loops::Mounted;
use crate::skip::need;

const SIZE: Bytes = Bytes(64 * 1024);

fn spec<'a>(dirs: &'a [PathBuf], modules: u32) -> ScratchSpec<'a> {
    ScratchSpec { dirs, run_id: "2026-11-21T2130-flash", modules, size: SIZE }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn scratch_files_have_their_size_and_go_with_the_value() {
    let dir = folder();
    let dirs = [dir.path().to_path_buf()];
    let scratch = Scratch::create(&spec(&dirs, 2)).unwrap();
    assert_eq!(scratch.modules().len(), 2);
    for module in scratch.modules() {
        assert_eq!(fs::metadata(module.path()).unwrap().len(), SIZE.0);
        assert_eq!(module.kind(), ModuleKind::File);
        assert!(!module.filled(), "a preallocated file has no data");
    }
    drop(scratch);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// It went with the folder when the run had ended.
#[test]
fn what_somebody_laid_into_a_scratch_folder_outlives_it() {
    let dir = folder();
    let scratch = Scratch::create(&spec(&[dir.path().to_path_buf()], 1)).unwrap();
    let module = scratch.modules()[0].path().to_path_buf();
    let theirs = module.with_file_name("thesis.txt");
    fs::write(&theirs, "years").unwrap();
    let told = scratch.remove().unwrap_err().to_string();
    assert!(told.contains("holds `thesis.txt`, which Prony did not make"), "{told}");
    assert!(theirs.exists() && !module.exists());
    fs::remove_file(theirs).unwrap();
    abandoned(dir.path()).unwrap().into_iter().for_each(|folder| folder.remove().unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn modules_alternate_between_folders() {
    let (a, b) = (folder(), folder());
    let dirs = [a.path().to_path_buf(), b.path().to_path_buf()];
    let scratch = Scratch::create(&spec(&dirs, 3)).unwrap();
    let inside: Vec<bool> = scratch.modules().iter().map(|m| m.path().starts_with(a.path())).collect();
    assert_eq!(inside, [true, false, true]);
}

#[test]
fn what_is_written_through_one_road_is_read_through_the_other() {
    let dir = folder();
    let dirs = [dir.path().to_path_buf()];
    let mut scratch = Scratch::create(&spec(&dirs, 1)).unwrap();
    let module = &mut scratch.modules_mut()[0];
    module.file(Access::Buffered).unwrap().write_all_at(&[7; 4096], 4096).unwrap();
    module.drop_cache().unwrap();
    match module.file(Access::Direct) {
        Ok(direct) => {
            let own = module.file(Access::Buffered).unwrap().metadata().unwrap();
            assert_eq!(direct.metadata().unwrap().ino(), own.ino());
            assert!(module.alignment().is_some());
        }
        Err(refused) => assert!(refused.to_string().contains("O_DIRECT"), "{refused}"),
    }
    module.mark_filled();
    module.trim().unwrap();
    assert!(!module.filled(), "a trimmed module has no data");
    let mut seen = [1; 16];
    module.file(Access::Buffered).unwrap().read_exact_at(&mut seen, 4096).unwrap();
    assert_eq!(seen, [0; 16]);
}

#[test]
fn more_than_is_free_is_refused_with_both_figures_and_leaves_nothing() {
    let dir = folder();
    let dirs = [dir.path().to_path_buf()];
    let wanted = ScratchSpec { size: Bytes(1 << 60), ..spec(&dirs, 2) };
    let error = Scratch::create(&wanted).unwrap_err();
    let ScratchError::Full { needed, free, modules, .. } = &error else { panic!("{error}") };
    assert_eq!((*needed, *modules), (Bytes(2 << 60), 2));
    assert!(free.0 > 0 && error.to_string().contains("free"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_link_that_has_the_name_already_is_never_followed_and_stays() {
    let (dir, elsewhere) = (folder(), folder());
    let name = format!("prony-scratch-2026-11-21T2130-flash-{}", std::process::id());
    symlink(elsewhere.path(), dir.path().join(&name)).unwrap();
    let dirs = [dir.path().to_path_buf()];
    let scratch = Scratch::create(&spec(&dirs, 1)).unwrap();
    assert_eq!(scratch.folders().next(), Some(dir.path().join(name.clone() + "-2").as_path()));
    drop(scratch);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert!(fs::symlink_metadata(dir.path().join(&name)).unwrap().is_symlink(), "the link is not ours to remove");
}

#[test]
fn a_folder_that_fails_takes_the_others_away() {
    let (good, bad) = (folder(), PathBuf::from("/proc/self"));
    let dirs = [good.path().to_path_buf(), bad];
    let wanted = ScratchSpec { modules: 0, ..spec(&dirs, 0) };
    Scratch::create(&wanted).unwrap_err();
    assert_eq!(fs::read_dir(good.path()).unwrap().count(), 0);
}

#[test]
fn a_living_scratch_is_not_abandoned_and_a_kept_one_is_found_and_removed() {
    let dir = folder();
    let dirs = [dir.path().to_path_buf()];
    let mut scratch = Scratch::create(&spec(&dirs, 1)).unwrap();
    assert!(abandoned(dir.path()).unwrap().is_empty(), "its lock is held");
    let kept = scratch.keep();
    drop(scratch);
    let found = abandoned(dir.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path(), fs::canonicalize(&kept[0]).unwrap());
    assert_eq!((found[0].run_id(), found[0].pid()), ("2026-11-21T2130-flash", std::process::id()));
    found.into_iter().for_each(|one| one.remove().unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_of_another_user_is_left_alone_whatever_its_marker_says() {
    let dir = folder();
    let mut scratch = Scratch::create(&spec(&[dir.path().to_path_buf()], 1)).unwrap();
    let kept = scratch.keep();
    drop(scratch);
    assert_eq!(abandoned(dir.path()).unwrap().len(), 1);
    if std::os::unix::fs::chown(&kept[0], Some(65_534), None).is_err() {
        return crate::skip::note("a folder of another user: only root may give one away");
    }
    assert!(abandoned(dir.path()).unwrap().is_empty());
}

/// Set for the child of the next test: where it makes its files until it is killed.
const CHILD_DIR: &str = "PRONY_TEST_SCRATCH_DIR";

fn hold_a_scratch_until_killed(dir: PathBuf) {
    let dirs = [dir];
    let scratch = Scratch::create(&spec(&dirs, 1)).unwrap();
    fs::write(dirs[0].join("ready"), "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
    drop(scratch);
}

#[test]
fn the_scratch_of_a_killed_process_is_found_with_its_size_and_removed() {
    if let Some(dir) = std::env::var_os(CHILD_DIR) {
        return hold_a_scratch_until_killed(dir.into());
    }
    let dir = folder();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scratch::the_scratch_of_a_killed_process_is_found_with_its_size_and_removed"])
        .env(CHILD_DIR, dir.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !dir.path().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the child ended early");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(abandoned(dir.path()).unwrap().is_empty(), "its process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    let found = abandoned(dir.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pid(), child.id());
    assert!(found[0].bytes() >= SIZE);
    found.into_iter().for_each(|one| one.remove().unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "only the sign of readiness is left");
}

#[test]
fn a_small_filesystem_in_memory_is_known_as_such_and_overfilled_by_nobody() {
    need!("root", "mount");
    let mounted = Mounted::in_memory("256k");
    let dirs = [mounted.point.path().to_path_buf()];
    let error = Scratch::create(&spec(&dirs, 5)).unwrap_err();
    assert!(matches!(error, ScratchError::Full { modules: 5, free: Bytes(262_144), .. }), "{error}");
    let scratch = Scratch::create(&spec(&dirs, 3)).unwrap();
    assert_eq!(scratch.modules()[0].filesystem(), "tmpfs");
    scratch.remove().unwrap();
    assert_eq!(fs::read_dir(mounted.point.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_without_a_marker_is_not_ours_however_it_is_named() {
    let dir = folder();
    let other = dir.path().join("prony-scratch-holiday-pictures-1");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("module-0.dat"), "precious").unwrap();
    assert!(abandoned(dir.path()).unwrap().is_empty());
}
