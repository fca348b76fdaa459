//! `--on` and the tables of systems: where operations go.
//!
//! The one idea: a target on the command line is one word that says kind and place, and may carry a name.
//!
//! What it does not do: it looks at no folder and no device.

use crate::{At, DatabaseSpec, Engine, Folder, Place, ScriptSpec, Stall, SystemSpec};
use observation::Footprint;
use reading::key::{Domain, Span};
use reading::{did_you_mean, known_names};
use units::{Nanos, Share};

/// What `--on` may be, for hints.
const FORMS: &str = "a folder, `file:DIR[,DIR]`, `emulated:MODEL:DIR`, `device:/dev/DISK[,/dev/DISK]`, `sqlite:[FILE]`, `local:postgres`, \
                     `local:mariadb`, `postgres://..`, `mysql://..`, `null-database:`, `null:`, `model:NAME[,KEY=VALUE,..]`, \
                     `model:FILE[,KEY=VALUE,..]` or `scripted:KEY=VALUE,..`, each with `NAME=` before it if it needs a name";

/// What may stand before a colon.
const KINDS: [&str; 11] = [
    "file",
    "emulated",
    "device",
    "null",
    "scripted",
    "model",
    "sqlite",
    "local",
    "postgres",
    "mysql",
    "null-database",
];

/// A script that answers every operation after 100 us, one at a time.
pub(crate) fn plain_script() -> ScriptSpec {
    ScriptSpec {
        service: vec![Nanos::from_micros(100)],
        servers: 1,
        per_byte_ns: 0.0,
        spread: Share(0.0),
        stall: None,
        fail_every: None,
        drift_per_s: 0.0,
    }
}

/// Reads one `--on`. The name is the one given, else made from the place; `distinct` settles clashes.
///
/// # Errors
/// What a target may be, then what was given.
pub fn parse(text: &str) -> Result<SystemSpec, String> {
    let (name, target) = split_name(text);
    let (kind, rest) = split_kind(target);
    let place = match kind {
        "file" => Place::File { dirs: folders(rest)? },
        // A model is followed by commas of its own, so that there is one folder.
        "emulated" => Place::File { dirs: vec![Folder::read(target)?] },
        "device" => Place::Device { paths: paths(rest, "device")?, fill: true },
        "null" if rest.is_empty() => Place::Null,
        "null" => return Err(format!("`null:` has nothing behind the colon, got `{rest}`")),
        "scripted" => Place::Scripted(script(rest)?),
        "model" => {
            let (model, changes) = model(rest)?;
            Place::Model { model, changes }
        }
        "sqlite" => Place::Database(DatabaseSpec::new(Engine::Sqlite, embedded(rest)?)),
        "local" => Place::Database(DatabaseSpec::new(local(rest)?, At::Local)),
        "postgres" | "postgresql" if rest.starts_with("//") => url(Engine::Postgres, target),
        "mariadb" | "mysql" if rest.starts_with("//") => url(Engine::Mariadb, target),
        "null-database" if matches!(rest, "" | "socket") => {
            Place::Database(DatabaseSpec::new(Engine::Null, At::Nowhere { socket: rest == "socket" }))
        }
        other => {
            let meant = did_you_mean(other, KINDS).map_or_else(String::new, |meant| format!("; {meant}"));
            return Err(format!("a target is {FORMS}, got the kind `{other}`{meant}"));
        }
    };
    let name = name.map_or_else(|| named_after(&place), str::to_owned);
    Ok(SystemSpec { name, place, size: None, modules: None, footprint: Footprint::default() })
}

/// Reads a model and what of it is otherwise from `f5100,failed_ports=2`: its name or file, and parameters with numbers.
///
/// # Errors
/// When there is no name, or a change is no `KEY=VALUE`.
pub fn model(text: &str) -> Result<(String, Vec<(String, String)>), String> {
    let mut parts = text.split(',').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty());
    let name =
        name.ok_or_else(|| format!("a model is a name or a file, and then KEY=VALUE, got nothing in `{text}`"))?;
    let change = |part: &str| match part.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("what is otherwise than in the model `{name}` is a list of KEY=VALUE, got `{part}`")),
    };
    Ok((name.to_owned(), parts.map(change).collect::<Result<_, String>>()?))
}

fn embedded(path: &str) -> Result<At, String> {
    Ok(if path.is_empty() { At::Cache } else { At::File(no_address(path, "file")?.to_owned()) })
}

/// A path, unless it reads like the address of a database with a slip in it. The message does not repeat what may be a
/// password, and nothing of that name is looked for or made.
fn no_address<'a>(path: &'a str, what: &str) -> Result<&'a str, String> {
    let asks = path.rsplit_once('@').is_some_and(|(who, _)| who.contains(':'));
    let said = path.split([' ', '&', '?', ';']).any(|word| word.starts_with("password=") || word.starts_with("pwd="));
    if !path.starts_with(['/', '.']) && (asks || said) || path.starts_with("//") && asks {
        return Err(format!(
            "the path of a {what}, got what reads like the address of a database with a password; write `./` before a path \
             of that name; a target is {FORMS}"
        ));
    }
    Ok(path)
}

fn local(engine: &str) -> Result<Engine, String> {
    match engine {
        "postgres" => Ok(Engine::Postgres),
        "mariadb" => Ok(Engine::Mariadb),
        other => Err(format!("a private server is `local:postgres` or `local:mariadb`, got `local:{other}`")),
    }
}

fn url(engine: Engine, url: &str) -> Place {
    Place::Database(DatabaseSpec::new(engine, At::Url(url.to_owned())))
}

/// Gives a second system of the same name a number: `a`, `a-2`.
pub(crate) fn distinct(systems: &mut [SystemSpec]) {
    for i in 0..systems.len() {
        let base = systems[i].name.clone();
        let mut number = 2;
        while systems[..i].iter().any(|earlier| earlier.name == systems[i].name) {
            systems[i].name = format!("{base}-{number}");
            number += 1;
        }
    }
}

fn split_name(text: &str) -> (Option<&str>, &str) {
    // A path may hold `=`, so only a plain word before it is a name, and `scripted:a=b` has its colon first.
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    match text.split_once('=') {
        Some((name, target)) if !name.is_empty() && name.chars().all(plain) => (Some(name), target),
        _ => (None, text),
    }
}

fn split_kind(target: &str) -> (&str, &str) {
    match target.split_once(':') {
        // A URL is never taken for a folder: it may hold a password, and folders are named in messages and files.
        Some((kind, rest)) if !kind.contains(['/', '.']) || rest.starts_with("//") => (kind, rest),
        _ => ("file", target),
    }
}

fn folders(text: &str) -> Result<Vec<Folder>, String> {
    paths(text, "folder")?.iter().map(|path| Folder::read(path)).collect()
}

fn paths(text: &str, what: &str) -> Result<Vec<String>, String> {
    let paths: Vec<String> = text.split(',').map(|path| path.trim().to_owned()).collect();
    if paths.iter().any(String::is_empty) {
        return Err(format!("the path of a {what}, got nothing; a target is {FORMS}"));
    }
    paths.iter().try_for_each(|path| no_address(path, what).map(drop))?;
    Ok(paths)
}

fn named_after(place: &Place) -> String {
    let path = match place {
        Place::File { dirs } => match &dirs[0] {
            Folder { device: Some(model), .. } => return model.clone(),
            Folder { path, .. } => path.as_str(),
        },
        Place::Device { paths, .. } => paths[0].as_str(),
        Place::Model { model, changes } => {
            let path = model.strip_suffix(".toml").unwrap_or(model);
            let name = path.rsplit('/').next().unwrap_or(path);
            return changes.iter().fold(name.to_owned(), |name, (key, value)| format!("{name} {key}={value}"));
        }
        Place::Null | Place::Scripted(_) | Place::Database(_) => return place.word().to_owned(),
    };
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if last.is_empty() || last == "." || last == ".." { place.word().to_owned() } else { last.to_owned() }
}

/// The keys of a script, with what each holds.
pub(crate) const SCRIPT_KEYS: [&str; 7] = ["service", "servers", "per_byte", "spread", "stall", "fail_every", "drift"];

/// Reads a script from `service=100us+200us,servers=4,per_byte=0.5ns,stall=1s/100ms`.
fn script(text: &str) -> Result<ScriptSpec, String> {
    let mut script = plain_script();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) =
            part.split_once('=').ok_or_else(|| format!("a script is a list of KEY=VALUE, got `{part}`"))?;
        let values: Vec<&str> = value.split('+').collect();
        set(&mut script, key.trim(), &values).map_err(|message| format!("`{key}`: {message}"))?;
    }
    Ok(script)
}

/// What a script without any time is refused with: a closed load on it would go round for ever.
pub(crate) const NO_TIME: &str = "a time above 0 s, or `per_byte` above 0 ns, got none: such a system would never end; `null` \
                                  answers at once, in real time";

/// Whether a script takes no time at all.
pub(crate) fn takes_no_time(script: &ScriptSpec) -> bool {
    script.service.iter().all(|time| *time == Nanos::ZERO) && script.per_byte_ns == 0.0
}

/// Sets one key of a script from its texts.
///
/// # Errors
/// What the key holds, then what was given.
pub(crate) fn set(script: &mut ScriptSpec, key: &str, values: &[&str]) -> Result<(), String> {
    let one = values.first().copied().unwrap_or_default().trim();
    match key {
        "service" => script.service = times(values)?,
        "servers" => script.servers = whole(one, 1, 1_000_000)? as u32,
        "per_byte" => script.per_byte_ns = nanoseconds(one)?,
        "spread" => script.spread = share(one)?,
        "stall" => script.stall = Some(stall(one)?),
        "fail_every" => script.fail_every = Some(whole(one, 1, u64::MAX)?),
        "drift" => script.drift_per_s = drift(one)?,
        _ => {
            return Err(format!("not a key of a script; {}", known_names(key, SCRIPT_KEYS)));
        }
    }
    Ok(())
}

fn share(text: &str) -> Result<Share, String> {
    Span { min: Share(f64::NEG_INFINITY), max: Share(f64::INFINITY) }.read(text)
}

fn times(values: &[&str]) -> Result<Vec<Nanos>, String> {
    let times: Result<Vec<Nanos>, String> =
        values.iter().map(|text| units::parse_duration(text).map_err(|e| e.to_string())).collect();
    times.and_then(|times| if times.is_empty() { Err("at least one time, got none".to_owned()) } else { Ok(times) })
}

fn whole(text: &str, min: u64, max: u64) -> Result<u64, String> {
    let refused = || format!("a whole number from {min} to {max}, got `{text}`");
    units::parse_count(text).ok().filter(|n| (min..=max).contains(n)).ok_or_else(refused)
}

/// A time below a nanosecond makes sense here: 0.5 ns a byte is 2 GB/s.
fn nanoseconds(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix("ns").map(str::trim).and_then(|n| n.parse::<f64>().ok());
    number.filter(|n| (0.0..1e9).contains(n)).ok_or_else(|| format!("a time in ns, such as `0.5 ns`, got `{text}`"))
}

/// Reads `EVERY/LASTS`.
pub(crate) fn stall(text: &str) -> Result<Stall, String> {
    let form = || format!("how often and how long, such as `10 s/1 s`, the second being the shorter, got `{text}`");
    let (every, lasts) = text.split_once('/').ok_or_else(form)?;
    let every = units::parse_duration(every).map_err(|e| e.to_string())?;
    let lasts = units::parse_duration(lasts).map_err(|e| e.to_string())?;
    if lasts < every { Ok(Stall { every, lasts }) } else { Err(form()) }
}

fn drift(text: &str) -> Result<f64, String> {
    let (sign, share) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    self::share(share.trim_end_matches("/s")).map(|share| sign * share.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_path_is_a_folder_whatever_it_looks_like() {
        assert_eq!(parse("/mnt/data").unwrap().place, Place::File { dirs: vec![Folder::plain("/mnt/data")] });
        assert_eq!(parse(".").unwrap().name, "file");
        assert_eq!(parse("/dev/shm").unwrap().place, Place::File { dirs: vec![Folder::plain("/dev/shm")] });
        let two = parse("new=device:/dev/a,/dev/b").unwrap();
        assert_eq!(
            (two.name.as_str(), &two.place),
            ("new", &Place::Device { paths: vec!["/dev/a".into(), "/dev/b".into()], fill: true })
        );
    }

    #[test]
    fn a_folder_may_lie_on_a_device_that_is_not_there() {
        let spec = parse("emulated:disk-15k,seek_ms=3:/srv/slow").unwrap();
        let folder = Folder { device: Some("disk-15k,seek_ms=3".into()), ..Folder::plain("/srv/slow") };
        assert_eq!((spec.name.as_str(), &spec.place), ("disk-15k,seek_ms=3", &Place::File { dirs: vec![folder] }));
        let two = parse("file:/a,emulated:disk-15k:/b").unwrap();
        let Place::File { dirs } = &two.place else { panic!("no folders") };
        assert_eq!(crate::folders_shown(dirs), "/a, emulated:disk-15k:/b");
        for wrong in ["emulated:", "emulated:disk-15k", "emulated::/srv", "emulated:disk-15k:"] {
            assert!(parse(wrong).unwrap_err().contains("emulated:MODEL:DIR"), "{wrong}");
        }
        for wrong in ["emulated:tiered:/srv", "emulated:tiered,disks=4:/srv"] {
            assert!(parse(wrong).unwrap_err().contains("mount both tiers first"), "{wrong}");
        }
    }

    #[test]
    fn a_script_is_read_from_one_word() {
        let spec = parse("scripted:service=100us+300us,servers=4,per_byte=0.5ns,stall=10s/1s,drift=-2%").unwrap();
        let Place::Scripted(script) = spec.place else { panic!("not scripted") };
        assert_eq!(script.service, [Nanos::from_micros(100), Nanos::from_micros(300)]);
        assert_eq!((script.servers, script.per_byte_ns, script.drift_per_s), (4, 0.5, -0.02));
        assert_eq!(script.stall, Some(Stall { every: Nanos::from_secs(10), lasts: Nanos::from_secs(1) }));
    }

    #[test]
    fn a_model_is_a_name_or_a_file_and_is_called_by_it() {
        for (text, name, model) in [
            ("model:f5100", "f5100", "f5100"),
            ("model:./mine.toml", "mine", "./mine.toml"),
            ("a=model:f5100", "a", "f5100"),
        ] {
            let spec = parse(text).unwrap();
            assert_eq!(spec.name, name);
            assert_eq!(spec.place, Place::Model { model: model.to_owned(), changes: Vec::new() });
        }
        assert!(parse("model:").unwrap_err().contains("got nothing"));
    }

    #[test]
    fn what_is_otherwise_in_a_model_is_part_of_its_place_and_of_its_name() {
        let change = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let spec = parse("model:f5100,failed_ports=2, failed_channels=1").unwrap();
        assert_eq!(spec.name, "f5100 failed_ports=2 failed_channels=1");
        let changes = vec![change("failed_ports", "2"), change("failed_channels", "1")];
        assert_eq!(spec.place, Place::Model { model: "f5100".into(), changes });
        let named = parse("hurt=model:./mine.toml,failed_ports=2").unwrap();
        assert_eq!(named.name, "hurt");
        let changes = vec![change("failed_ports", "2")];
        assert_eq!(named.place, Place::Model { model: "./mine.toml".into(), changes });
        assert!(parse("model:f5100,failed_ports").unwrap_err().contains("a list of KEY=VALUE, got `failed_ports`"));
        assert!(parse("model:,a=1").unwrap_err().contains("got nothing"));
    }

    #[test]
    fn a_wrong_target_is_told_what_a_target_is() {
        assert!(parse("tape:0").unwrap_err().ends_with("got the kind `tape`"));
        assert!(parse("devcie:/dev/sdb").unwrap_err().ends_with("got the kind `devcie`; did you mean `device`?"));
        assert!(parse("scripted:servcie=1us").unwrap_err().contains("did you mean `service`?"));
        assert!(parse("file:").unwrap_err().contains("got nothing"));
    }

    #[test]
    fn an_address_with_a_slip_is_no_path_and_its_password_is_not_repeated() {
        for slip in [
            "postgres//u:S3CRET@h/d",
            "file:postgres://u:S3CRET@h/d",
            "sqlite://u:S3CRET@h/d",
            "sqlite:u:S3CRET@h",
            "host=h user=u password=S3CRET",
            "device:h?password=S3CRET",
        ] {
            let told = parse(slip).unwrap_err();
            assert!(told.contains("reads like the address of a database") && !told.contains("S3CRET"), "{told}");
        }
        assert_eq!(parse("./at:noon@home").unwrap().place, Place::File { dirs: vec![Folder::plain("./at:noon@home")] });
        let absolute = parse("sqlite:///srv/a.db").unwrap().place;
        assert_eq!(absolute, Place::Database(DatabaseSpec::new(Engine::Sqlite, At::File("///srv/a.db".into()))));
    }

    #[test]
    fn two_systems_of_one_name_are_told_apart() {
        let mut systems = vec![parse("/a/x").unwrap(), parse("/b/x").unwrap(), parse("null:").unwrap()];
        distinct(&mut systems);
        let names: Vec<&str> = systems.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["x", "x-2", "null"]);
    }
}
