//! A device that is only read: on a loop device, where the machine has them.

use crate::program::Program;
use crate::skip;
use std::fs::{self, File};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A loop device; detached when dropped.
struct Loop {
    path: String,
}

impl Loop {
    fn over(image: &Path) -> Option<Loop> {
        let output =
            Command::new("losetup").args(["--find", "--show"]).arg(image).stderr(Stdio::null()).output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !path.is_empty()).then_some(Loop { path })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

/// A mount; taken away when dropped.
struct Mounted {
    point: PathBuf,
}

impl Mounted {
    fn new(device: &str, point: PathBuf) -> Option<Mounted> {
        fs::create_dir_all(&point).expect("a folder to mount on");
        let status = Command::new("mount").arg(device).arg(&point).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then_some(Mounted { point })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.point).status();
    }
}

/// A file system of 16 MiB in a file.
fn image(program: &Program) -> Option<PathBuf> {
    let image = program.path("image.raw");
    File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("an image");
    let made = Command::new("mkfs.ext4").arg("-q").arg(&image).stderr(Stdio::null()).status();
    made.is_ok_and(|status| status.success()).then_some(image)
}

const FOUND: &str = "data as it was found on the device";

#[test]
fn a_device_that_is_only_read_needs_no_consent_and_keeps_every_byte() {
    let program = Program::new();
    let Some(image) = image(&program) else { skip!("this machine has no mkfs.ext4") };
    let Some(disk) = Loop::over(&image) else { skip!("loop devices need root") };
    let before = fs::read(&image).expect("the image");
    let line = format!("LAB --on disk=device:{} --seed 7 --set measure=200ms --set cache=cold", disk.path);
    let plan = program.json(&format!("plan {line} --json"));
    assert_eq!(plan["bytes_written"]["total"], 0);
    assert!(plan["notes"][0].as_str().is_some_and(|note| note.starts_with("nothing is written to `disk`")), "{plan}");
    let told = program.fine(&format!("plan {line}"));
    assert!(told.contains("writes      nothing to `disk`, which is read as it is found"), "{told}");
    let run = program.json(&format!("run {line} --json --quiet -o x.prony"));
    for trial in run["trials"].as_array().expect("trials") {
        assert!(trial["state"].as_str().is_some_and(|state| state.starts_with(FOUND)), "{trial}");
        assert!(trial["caveats"].as_array().is_some_and(|kinds| kinds.contains(&"other".into())), "{trial}");
    }
    assert!(run["caveats"].to_string().contains("disk was read as it was found"), "{}", run["caveats"]);
    let text = program.fine("show x.prony").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("disk was read as it was found"), "{text}");
    assert_eq!(fs::read(&image).expect("the image"), before, "not a byte was written");
    let told = program.refused(&format!("run {line} --set fill=true"));
    assert!(told.contains("--destroy"), "{told}");
}

#[test]
fn a_plan_tells_the_consent_that_a_run_needs_and_what_stands_in_the_way() {
    let program = Program::new();
    let Some(image) = image(&program) else { skip!("this machine has no mkfs.ext4") };
    let Some(disk) = Loop::over(&image) else { skip!("loop devices need root") };
    let line = format!("plan LAB --on disk=device:{} --set read=50%", disk.path);
    let lacking = program.json(&format!("{line} --json"));
    let consent = lacking["devices"][0]["consent"].as_str().expect("a consent would be enough");
    let told = program.fine(&line);
    assert!(told.contains(&format!("to destroy all of it, give `{consent}`")), "{told}");
    assert!(told.contains("carries a `ext4` signature"), "{told}");
    let given = program.fine(&format!("{line} {consent}"));
    assert!(given.contains(&format!("consent     given for {} of `disk`", disk.path)), "{given}");
    let _held = File::options().read(true).write(true).open(&disk.path).expect("the device");
    let told = program.fine(&format!("{line} {consent}"));
    assert!(told.contains(&format!("is open for writing in process {} (", std::process::id())), "{told}");
    let anyway = program.json(&format!("{line} {consent} --in-use-anyway --json"));
    crate::schema::hold(&anyway);
    assert_eq!(anyway["devices"][0]["writable"], true, "{anyway}");
    let Some(_mounted) = Mounted::new(&disk.path, program.path("point")) else { skip!("mounting needs root") };
    let told = program.json(&format!("{line} {consent} --in-use-anyway --json"));
    assert!(told["devices"][0]["obstacles"].to_string().contains("is mounted at"), "{told}");
    let read = program.json(&format!("plan LAB --on disk=device:{} --json", disk.path));
    assert_eq!(read["devices"], serde_json::json!([]), "what is only read needs no consent");
}

#[test]
fn an_existing_file_is_read_as_it_is_and_written_only_with_consent() {
    let program = Program::new();
    let path = program.path("data.bin");
    fs::write(&path, vec![7; 4 << 20]).unwrap();
    let line = "LAB --on disk=device:data.bin --seed 7 --set measure=200ms --quiet";
    program.json(&format!("run {line} --json -o x.prony"));
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 7), "it was only read");
    let told = program.refused(&format!("run {line} --set read=50%"));
    assert!(told.contains("64 of 64 probed places hold data"), "{told}");
    let plan = program.json("plan LAB --on disk=device:data.bin --set read=50% --json");
    let consent = plan["devices"][0]["consent"].as_str().expect("consent is enough");
    assert!(consent.starts_with("--destroy file-data.bin-"), "{consent}");
    let checked = "--set read=50% --set validate=true --set verify=after";
    let run = program.json(&format!("run {line} {checked} {consent} --json -o y.prony"));
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(2));
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 4 << 20);
    assert!(bytes.chunks(512).all(|sector| sector != [7; 512]), "it was filled whole");
    program.fine("verify y.prony");
}

#[test]
fn what_is_named_as_something_else_is_told_what_it_is() {
    let program = Program::new();
    fs::write(program.path("data.bin"), [7; 8192]).unwrap();
    fs::write(program.path("a.db"), b"SQLite format 3\0").unwrap();
    for (named, hint) in [
        ("data.bin", "name it as one that exists with `--on device:data.bin`"),
        ("a.db", "name it with `--on sqlite:a.db`"),
        ("device:.", "it is a folder: scratch files are made there with `--on .`"),
        ("nowhere", "make it with `mkdir -p nowhere`"),
        ("devcie:/dev/sdb", "did you mean `device`?"),
    ] {
        let told = program.refused(&format!("plan LAB --on {named}"));
        assert!(told.contains(hint), "{named}: {told}");
    }
    let disk =
        fs::read_dir("/dev").unwrap().flatten().find(|node| node.file_type().is_ok_and(|kind| kind.is_block_device()));
    let Some(disk) = disk else { skip!("this machine has no block device") };
    let disk = disk.path().display().to_string();
    let told = program.refused(&format!("plan LAB --on {disk}"));
    assert!(told.contains(&format!("it is a block device: name it with `--on device:{disk}`")), "{told}");
    program
        .write("bad.toml", "title = 'T'\nquestion = 'Q?'\n[system.s]\nkind = 'fiel'\n[workload.w]\nkind = 'blcok'\n");
    let told = program.refused("check bad.toml");
    assert!(told.contains("did you mean `file`?") && told.contains("did you mean `block`?"), "{told}");
    assert!(!told.contains("at least one system"), "{told}");
}

#[test]
fn a_mounted_device_is_read_and_not_written() {
    let program = Program::new();
    let Some(image) = image(&program) else { skip!("this machine has no mkfs.ext4") };
    let Some(disk) = Loop::over(&image) else { skip!("loop devices need root") };
    let Some(_mounted) = Mounted::new(&disk.path, program.path("point")) else { skip!("mounting needs root") };
    let line = format!("LAB --on disk=device:{} --seed 7 --set measure=200ms", disk.path);
    assert_eq!(
        program.json(&format!("run {line} --json --quiet -o x.prony"))["trials"].as_array().map(Vec::len),
        Some(2)
    );
    let told = program.refused(&format!("run {line} --set read=50%"));
    assert!(told.contains("is mounted at"), "{told}");
}
