//! What a user may type: every command and flag with its help in one line, as one table. What else is to say is in `help.md`.
//!
//! The one idea: the help, the completions, the man pages and `docs/reference/cli.md` all come from these definitions,
//! so that none of them can say something else. Here a value only has its type; what it means is checked by the
//! command that takes it (`checked.rs`), so that every problem is told in Prony's own words.
//!
//! What it does not do: it opens nothing and runs nothing.

// Documentation is the help that users see; what stands in brackets there is no link.
#![allow(rustdoc::broken_intra_doc_links)]

use crate::help;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;
use units::Nanos;

/// Structs of arguments: how each is typed, and its help in one line. Its help in full is in `help.md`, by struct and field.
macro_rules! arguments {
    ($($(#[$about:meta])* $name:ident {
        $($field:ident: $kind:ty = $attribute:ident($($how:tt)*) $($short:literal)?;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Args)]
        pub struct $name {
            $(
                $(#[doc = $short])?
                #[$attribute($($how)* $(, long_help = help::argument(stringify!($name), stringify!($field), $short))?)]
                pub $field: $kind,
            )*
        }
    )*};
}

/// A time between two lines.
fn every(text: &str) -> Result<Nanos, String> {
    match units::parse_duration(text).map_err(|error| error.to_string())? {
        time if time >= Nanos::from_millis(100) => Ok(time),
        _ => Err(format!("a time of 100 ms at the least, such as `1s`, got `{text}`")),
    }
}

/// A performance lab for storage and databases.
#[derive(Debug, Parser)]
#[command(
    name = "prony",
    version = crate::build::VERSION,
    long_version = crate::build::LONG_VERSION,
    term_width = 80,
    max_term_width = 80,
    arg_required_else_help = true,
    subcommand_required = true,
    propagate_version = false,
    about = "A performance lab for storage and databases: one study, one method, one run file.",
    long_about = "A performance lab for storage and databases.\n\n\
        A study says what to ask, in one small file. Prony runs it on files, devices, databases or described \
        machines, by one method, and states the answer with its interval, where the curve bends, what it costs in CPU, and every reason \
        to doubt it. A run is one file that can be kept, mailed and compared.",
    after_help = "Start with `prony quick`. `prony COMMAND --help` has examples.",
    after_long_help = "Examples:\n  prony quick\n  prony run flash --on file:/mnt/data --html flash.html\n\n\
        Exit codes: 0 fine; 1 a threshold failed or was inconclusive, data was damaged or operations failed; 2 an error.\n\
        NO_COLOR is honoured. Only what another program would read goes to stdout.",
    mut_subcommands = |command| help::told("prony", command)
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order in which a new user meets them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// A first look at this storage in 45 seconds; nothing to set up
    Quick(Quick),
    /// What ships, one line each
    Studies(Studies),
    /// All problems of a study, with line and column
    Check(Check),
    /// What a run would do: trials, order, time, every byte written
    Plan(Plan),
    /// Run a study; keep everything in one file
    Run(Run),
    /// The runs in a folder
    List(List),
    /// The answer and tables of a run, in the terminal
    Show(Show),
    /// The report of a run as one HTML page
    Report(Report),
    /// Systems of a run, or two runs, against each other
    Compare(Compare),
    /// What an earlier run left on its files or devices, checked
    Verify(Verify),
    /// What the load generator itself can do on this machine
    Ceiling(Ceiling),
    /// A disk or flash device that is not there
    Emulate(Emulate),
    /// A wire between two programs: long, narrow, crowded or cut
    Link(Link),
    /// Fit a model on rows
    Calibrate(Calibrate),
    /// What a described machine would answer
    Predict(Predict),
    /// How wrong a model is on rows that it never saw
    Judge(Judge),
    /// Private database servers and data sets
    #[command(subcommand)]
    Db(Db),
    /// Which tables and indexes belong on the fast tier, and the moves
    #[command(subcommand)]
    Tier(Tier),
    /// Mirrored pairs of databases: brought up, disturbed, mended
    #[command(subcommand)]
    Pair(Pair),
    /// What a synchronous mirror would cost a live database
    Assess(Assess),
    /// What clients say to a live database, kept to be sent again
    Capture(Capture),
    /// What is understood of files that other programs run
    #[command(subcommand)]
    Import(Import),
    /// Add or remove tags of a run
    Tag(Tag),
    /// Write a remark into a run
    Note(Note),
    /// A copy of a run without host names, paths and serial numbers
    Redact(Redact),
    /// Remove scratch files that a killed run left behind
    Clean(Clean),
    /// Completions for a shell
    Completions(Completions),
    /// The manual pages
    Man(Man),
    /// The pages of `docs/reference/` as Markdown
    #[command(hide = true)]
    Reference(Reference),
    /// Keep cores awake for the Prony that started this one, until its standard input ends
    #[command(hide = true)]
    KeepAwake,
}

arguments! {
    /// Which study, and what to change in it.
    #[derive(Clone)]
    StudyChoice {
        study: String = arg(value_name = "STUDY", value_hint = ValueHint::FilePath)
            "Name of a shipped study, or path of a study file";
        changes: Changes = command(flatten);
    }

    /// What to change in a study without editing it.
    #[derive(Clone, Default)]
    Changes {
        on: Vec<String> = arg(long, value_name = "TARGET", action = ArgAction::Append) "System to run on [repeatable]";
        set: Vec<String> = arg(long, value_name = "KEY=VALUE", action = ArgAction::Append)
            "Change a key of the study [repeatable]";
        only: Vec<String> = arg(long, value_name = "NAME", action = ArgAction::Append)
            "Experiment or workload to keep [repeatable]";
        allow_server_settings: bool = arg(long) "Let a study give private servers any setting";
        password_file: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "File with the password of the databases";
    }

    /// `quick`.
    Quick {
        dir: Option<PathBuf> = arg(value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder to look at [default: this folder]";
        on: Option<String> = arg(long, value_name = "DIR", conflicts_with = "dir", value_hint = ValueHint::DirPath)
            "The same folder, as other commands have it";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the run to this new file";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the report here, not beside the run";
        seed: Option<u64> = arg(long, value_name = "N") "Seed of every random choice [default: fresh]";
        json: bool = arg(long) "Print the run as JSON on stdout";
        voice: Voice = command(flatten);
    }

    /// How much to say on stderr.
    #[derive(Clone, Copy, Default)]
    Voice {
        quiet: bool = arg(short, long, conflicts_with = "verbose") "Say nothing on stderr but errors";
        verbose: bool = arg(short, long) "Say each phase on stderr";
        progress: Option<Nanos> = arg(long, value_name = "TIME", value_parser = every, conflicts_with = "quiet")
            "Say a line so often: rate, p50, p99, failures, time left";
    }

    /// `studies`.
    Studies {
        name: Option<String> = arg(value_name = "NAME") "Print the file of this study";
        json: bool = arg(long) "Print as JSON";
    }

    /// `check`.
    Check {
        choice: StudyChoice = command(flatten);
        json: bool = arg(long) "Print as JSON";
    }
}

/// `import`.
#[derive(Debug, clap::Subcommand)]
pub enum Import {
    /// A script of transactions in pgbench's language
    Pgbench(ImportPgbench),
}

arguments! {
    /// `import pgbench`.
    ImportPgbench {
        file: PathBuf = arg(value_name = "FILE", value_hint = ValueHint::FilePath) "The script";
        json: bool = arg(long) "Print as JSON";
    }
}

/// `tier`.
#[derive(Debug, clap::Subcommand)]
pub enum Tier {
    /// Which tables and indexes belong on the fast tier
    Advise(TierAdvise),
    /// Carry out a plan, object by object
    Move(TierMove),
    /// Put everything back where it was
    Undo(TierUndo),
    /// Keep hot objects on the fast tier as the heat wanders
    Balance(TierBalance),
}

arguments! {
    /// Where the fast tier is.
    TierFast {
        space: String = arg(long = "fast", id = "fast", value_name = "TABLESPACE", default_value = "fast")
            "Tablespace of the fast tier";
    }

    /// What both tiers are made of.
    TierTimes {
        slow_device: String = arg(long, value_name = "MODEL", default_value = "disk-15k") "Model of the slow tier";
        fast_device: String = arg(long, value_name = "MODEL", default_value = "nand-device") "Model of the fast tier";
        slow_read: Option<String> = arg(long, value_name = "TIME") "Random read of 8 KiB on the slow tier";
        fast_read: Option<String> = arg(long, value_name = "TIME") "Random read of 8 KiB on the fast tier";
        slow_flush: Option<String> = arg(long, value_name = "TIME") "Flushed write on the slow tier";
        fast_flush: Option<String> = arg(long, value_name = "TIME") "Flushed write on the fast tier";
    }

    /// The database.
    TierPlace {
        url: String = arg(value_name = "URL") "Database: `postgres://..` or `mysql://..`";
        password_file: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "File with the password of the database";
    }

    /// `tier advise`.
    TierAdvise {
        place: TierPlace = command(flatten);
        window: String = arg(long, value_name = "TIME", default_value = "10s") "How long to watch";
        slices: Option<u32> = arg(long, value_name = "N") "Slices of the window, for the intervals [default: up to 10]";
        budget: Option<String> = arg(long, value_name = "SIZE") "Room on the fast tier [default: that of the knee]";
        memory_price: f64 = arg(long, value_name = "TIMES", default_value = "1")
            "What a byte of memory costs, in bytes of the fast tier";
        fast: TierFast = command(flatten);
        tiers: TierTimes = command(flatten);
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the plan to this new file";
        json: bool = arg(long) "Print as JSON";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Also draw the curve on a page";
    }

    /// `assess`.
    Assess {
        place: TierPlace = command(flatten);
        window: String = arg(long, value_name = "TIME", default_value = "10s") "How long to watch";
        distance: String = arg(long, value_name = "KM|TIME", default_value = "10km") "How far the mirror is";
        kind: Option<String> = arg(long, value_name = "KIND", value_parser = ["commit", "write-set", "row"])
            "What a pair waits for [default: commit; of MariaDB write-set]";
        mirror_flush: Option<String> = arg(long, value_name = "TIME", conflicts_with = "mirror_dir")
            "Time of a flush on the mirror";
        mirror_on: String = arg(long, value_name = "WHERE", value_parser = ["own-host", "same-host"], default_value = "own-host")
            "Where the mirror runs";
        mirror_dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "A folder on the disk that the mirror will have";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Also write the assessment to this new file";
        json: bool = arg(long) "Print as JSON";
    }

    /// `capture`.
    Capture {
        place: TierPlace = command(flatten);
        window: String = arg(long, value_name = "TIME", default_value = "10s") "How long to listen";
        log: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "The server's log on this machine";
        listen: Option<String> = arg(long, value_name = "ADDRESS", conflicts_with = "log")
            "Relay clients from here, and hear them";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "The file to write [default: statements.trace]";
        json: bool = arg(long) "Print as JSON";
    }

    /// How moves are made.
    TierManner {
        dry_run: bool = arg(long) "Only say what would be moved";
        lock_timeout: String = arg(long, value_name = "TIME", default_value = "2s") "How long to wait for a lock";
        rate: Option<String> = arg(long, value_name = "SIZE/s")
            "At most so many bytes a second, by pauses between objects";
    }

    /// `tier move`.
    TierMove {
        place: TierPlace = command(flatten);
        plan: PathBuf = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "The plan of `prony tier advise`";
        manner: TierManner = command(flatten);
        json: bool = arg(long) "Print as JSON";
    }

    /// `tier undo`.
    TierUndo {
        place: TierPlace = command(flatten);
        even_if_moved: bool = arg(long) "Put back, too, what somebody else has moved since";
        tiers: TierTimes = command(flatten);
        manner: TierManner = command(flatten);
        json: bool = arg(long) "Print as JSON";
    }

    /// `tier balance`.
    TierBalance {
        place: TierPlace = command(flatten);
        budget: String = arg(long, value_name = "SIZE") "Room on the fast tier";
        every: String = arg(long, value_name = "TIME", default_value = "60s") "How often to look";
        half_life: Option<String> = arg(long, value_name = "TIME")
            "After this time heat counts half [default: 5 looks]";
        pay_off: String = arg(long, value_name = "TIME", default_value = "1h")
            "A move must pay for itself within this time";
        rounds: Option<u32> = arg(long, value_name = "N") "End after so many looks";
        fast: TierFast = command(flatten);
        tiers: TierTimes = command(flatten);
        manner: TierManner = command(flatten);
    }
}

/// `pair`.
#[derive(Debug, clap::Subcommand)]
pub enum Pair {
    /// Bring a pair up, or start what does not run of one
    Up(PairUp),
    /// What the pair does, why, and what to do next
    Status(PairPlace),
    /// Let the mirror stay behind, and note what it lacks
    Suspend(PairPlace),
    /// Send the mirror what it lacks, compare, and mirror again
    Resume(PairResume),
    /// Swap the roles of both nodes; nothing is lost
    Swap(PairSwap),
    /// Make the mirror of a lost primary the primary
    TakeOver(PairTakeOver),
    /// Cut the link between both nodes
    Cut(PairPlace),
    /// Let the link carry again
    Heal(PairPlace),
    /// Compare both nodes, row by row
    Check(PairPlace),
    /// Serve a two-phase pair to clients of PostgreSQL
    Serve(PairServe),
    /// Mirror a table that was left out
    Add(PairAdd),
    /// Stop both nodes
    Down(PairDown),
}

/// `db`.
#[derive(Debug, clap::Subcommand)]
pub enum Db {
    /// Start a private server, or see whether a database answers
    Up(DbUp),
    /// Fill the data sets that a study needs
    Fill(DbFill),
    /// Check the invariants of filled data sets
    Check(DbCheck),
    /// Stop private servers
    Down(DbDown),
}

arguments! {
    /// Which pair, and how it is told.
    PairPlace {
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the pair [default: brought up last]";
        json: bool = arg(long) "Print as JSON";
    }

    /// `pair up`.
    PairUp {
        kind: Option<String> = arg(value_name = "KIND")
            "Kind of pair: `postgres-pair`, `two-phase-pair` or `galera-pair` [default: as it was]";
        place: PairPlace = command(flatten);
        sync: Option<String> = arg(long, value_name = "LEVEL") "How far commits must have come [default: on]";
        list: Option<String> = arg(long, value_name = "SIZE") "Room for what the mirror lacks [default: 4GiB]";
        cores: Option<String> = arg(long, value_name = "A,B") "Cores of each node, such as `0.5,1`";
        link: Option<String> = arg(long, value_name = "WORDS", conflicts_with = "via")
            "What the wire between both nodes is like: `km=10`";
        device: Option<String> = arg(long, value_name = "A,B")
            "Where each node lies, such as `emulated:disk-15k:DIR1,DIR2`";
        leave_out: Vec<String> = arg(long, value_name = "PATTERN[=REASON]", action = ArgAction::Append)
            "Tables of a two-phase-pair that are not mirrored [repeatable]";
        voter: Option<String> = arg(long, value_name = "WHO")
            "Who decides in a galera-pair: `none`, `weight` or `garbd`";
        via: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the sockets between both nodes";
    }

    /// `pair resume`.
    PairResume {
        place: PairPlace = command(flatten);
        discard_mirror: bool = arg(long) "Throw away what a mirror wrote alone";
        parallel: u16 = arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))
            "Sessions that send rows at once";
    }

    /// `pair serve`.
    PairServe {
        kind: Option<String> = arg(value_name = "PAIR") "Kind of the pair: `two-phase-pair`";
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the pair [default: brought up last]";
        listen: String = arg(long, value_name = "ADDRESS") "Address to listen at, such as `127.0.0.1:6000`";
        patience: String = arg(long, value_name = "TIME", default_value = "1s")
            "Silence after which a node counts as lost";
        node: String = arg(long, value_name = "a|b", value_parser = ["a", "b"], default_value = "a")
            "Node that clients read on";
        anywhere: bool = arg(long) "Listen beyond this machine";
    }

    /// `pair add`.
    PairAdd {
        table: String = arg(value_name = "TABLE") "Schema and name of the table";
        place: PairPlace = command(flatten);
    }

    /// `pair swap`.
    PairSwap {
        place: PairPlace = command(flatten);
        accept_missing: bool = arg(long) "Accept that left-out rows stay behind";
    }

    /// `pair take-over`.
    PairTakeOver {
        place: PairPlace = command(flatten);
        accept_missing: bool = arg(long) "Accept that something is missing";
    }

    /// `pair down`.
    PairDown {
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the pair [default: brought up last]";
        remove: bool = arg(long) "Remove its data too";
    }

    /// `db up`.
    DbUp {
        target: String = arg(value_name = "TARGET") "Database: `local:postgres`, `local:mariadb`, or a URL";
        server: Vec<String> = arg(long, value_name = "SETTING=VALUE", action = ArgAction::Append)
            "Setting of the private server [repeatable]";
        allow_server_settings: bool = arg(long) "Let --server give any setting";
        password_file: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "File with the password of the databases";
    }

    /// `db fill`.
    DbFill {
        choice: StudyChoice = command(flatten);
        verbose: bool = arg(short, long) "Say how far it is on stderr";
    }

    /// `db check`.
    DbCheck {
        study: Option<String> = arg(value_name = "STUDY", required_unless_present = "ledger", value_hint = ValueHint::FilePath)
            "Name of a shipped study, or path of a study file";
        changes: Changes = command(flatten);
        ledger: Option<String> = arg(long, value_name = "RUN", conflicts_with = "study", value_hint = ValueHint::FilePath)
            "Hold what this run acknowledged against the data";
        json: bool = arg(long) "Print as JSON";
    }

    /// `db down`.
    DbDown {
        target: Option<String> = arg(value_name = "TARGET") "Server to stop [default: all private ones]";
        remove: bool = arg(long) "Remove its data too";
    }

    /// Consents to lose what devices hold.
    #[derive(Clone, Default)]
    Consents {
        destroy: Vec<String> = arg(long, value_name = "CONSENT", action = ArgAction::Append)
            "ID:BYTES[:SIGNATURE] of a device to destroy";
        in_use_anyway: bool = arg(long, requires = "destroy") "Destroy it even if a process has it open for writing";
    }

    /// `plan`.
    Plan {
        choice: StudyChoice = command(flatten);
        consents: Consents = command(flatten);
        seed: Option<u64> = arg(long, value_name = "N") "Seed of every random choice [default: fresh]";
        json: bool = arg(long) "Print as JSON";
    }

    /// `run`; what `quick` asks for too.
    #[derive(Clone, Default)]
    Run {
        study: Option<String> = arg(value_name = "STUDY", required_unless_present = "resume", value_hint = ValueHint::FilePath)
            "Name of a shipped study, or path of a study file";
        changes: Changes = command(flatten);
        backend: Option<Backend> = arg(long, value_name = "BACKEND", hide_possible_values = true)
            "`measured` (default) or `simulated`";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the run to this new file";
        seed: Option<u64> = arg(long, value_name = "N") "Seed of every random choice [default: fresh]";
        resume: Option<String> = arg(long, value_name = "RUN", value_hint = ValueHint::FilePath, conflicts_with_all = ["study", "set", "only", "backend", "output", "seed"])
            "Go on with a run that was cut short";
        fail_if: Vec<String> = arg(long, value_name = "CONDITION", action = ArgAction::Append)
            "Exit with 1 when this is true [repeatable]";
        allow_inconclusive: bool = arg(long) "Let inconclusive thresholds pass";
        allow_damage: bool = arg(long) "Let a run pass that found damaged data";
        allow_errors: bool = arg(long) "Let a run pass in which operations failed";
        consents: Consents = command(flatten);
        keep: bool = arg(long) "Keep the scratch files";
        json: bool = arg(long) "Print the run as JSON on stdout";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the report to FILE";
        tag: Vec<String> = arg(long, value_name = "TAG", action = ArgAction::Append) "Label the run [repeatable]";
        note: Option<String> = arg(long, value_name = "TEXT") "A remark for the report";
        voice: Voice = command(flatten);
    }
}

/// How numbers are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Load the real system
    Measured,
    /// Run on a simulated clock
    Simulated,
}

arguments! {
    /// `list`.
    List {
        dir: Option<PathBuf> = arg(value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder with runs [default: this folder]";
        json: bool = arg(long) "Print as JSON";
    }

    /// `verify`.
    Verify {
        choice: RunChoice = command(flatten);
        on: Vec<String> = arg(long, value_name = "TARGET", action = ArgAction::Append)
            "Where its data is now [repeatable]";
        json: bool = arg(long) "Print as JSON";
    }

    /// A run that is there already.
    RunChoice {
        run: String = arg(value_name = "RUN", value_hint = ValueHint::FilePath)
            "Run file, id or its beginning, or `latest`";
    }

    /// `show`.
    Show {
        choice: RunChoice = command(flatten);
        json: bool = arg(long) "Print as JSON";
        csv: bool = arg(long, conflicts_with = "json") "Print as CSV, one line a trial and stream";
        history: Option<u32> = arg(long, value_name = "TRIAL", conflicts_with_all = ["json", "csv"])
            "Print what each transaction of a trial on lists saw, as EDN for Elle";
    }

    /// `report`.
    Report {
        choice: RunChoice = command(flatten);
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the page to FILE [default: beside the run]";
    }

    /// `compare`.
    Compare {
        choice: RunChoice = command(flatten);
        second: Option<String> = arg(value_name = "RUN", id = "second", value_hint = ValueHint::FilePath)
            "A second run; the first is then the baseline";
        baseline: Option<String> = arg(long, value_name = "SYSTEM", conflicts_with = "second")
            "System that others are compared with";
        allow_inconclusive: bool = arg(long) "Let an inconclusive comparison pass";
        json: bool = arg(long) "Print as JSON";
    }

    /// `ceiling`.
    Ceiling {
        on: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder in which the drivers of storage are measured [default: this folder]";
        model: bool = arg(long) "Time models too";
        json: bool = arg(long) "Print as JSON";
    }

    /// `emulate`.
    Emulate {
        model: Option<String> = arg(value_name = "MODEL", value_hint = ValueHint::FilePath, required_unless_present_any = ["fault", "heat", "measure_way"],
            conflicts_with_all = ["fault", "heat"])
            "Name of a shipped model of storage, or path of a model file; `nothing` adds nothing; `tiered` with --fast and --slow";
        backing: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["fault", "heat", "slow"])
            "Folder that holds the files";
        at: PathBuf = arg(long, value_name = "MNT", value_hint = ValueHint::DirPath)
            "Folder at which the device is seen";
        modules: u16 = arg(long, value_name = "N", default_value = "1") "Modules of the model that take part";
        memory: String = arg(long, value_name = "SIZE", default_value = "16MiB")
            "Memory of the device that a lost power empties";
        no_page_cache: bool = arg(long) "The kernel keeps no pages of the files";
        with_parent: Option<i32> = arg(long, hide = true) "End with the process of this number, which started this one";
        measure_way: bool = arg(long, hide = true, conflicts_with_all = ["model", "backing", "fault", "heat"])
            "Measure the way through the mount at --at, for the process that serves it";
        fault: Option<String> = arg(long, value_name = "FAULT") "Do this to a device that is mounted";
        fast: Option<String> = arg(long, value_name = "DIR|MODEL:DIR", requires = "slow", conflicts_with_all = ["fault", "heat"])
            "Folder of the fast tier, and its model";
        slow: Option<String> = arg(long, value_name = "DIR|MODEL:DIR", requires = "fast")
            "Folder of the slow tier, and its model";
        room: String = arg(long, value_name = "SIZE", default_value = "1GiB", conflicts_with_all = ["backing", "fault", "heat"])
            "Size of the fast tier";
        rule: Vec<String> = arg(long, value_name = "RULE", conflicts_with_all = ["backing", "fault", "heat"])
            "Where files begin, and what stays where it is; the first that fits";
        every: String = arg(long, value_name = "TIME", default_value = "5s", conflicts_with_all = ["backing", "fault", "heat"])
            "How often the mover looks";
        budget: String = arg(long, value_name = "SIZE", default_value = "32MiB", conflicts_with_all = ["backing", "fault", "heat"])
            "What may be moved in a second; 0B moves nothing";
        half_life: String = arg(long, value_name = "TIME", default_value = "1min", conflicts_with_all = ["backing", "fault", "heat"])
            "After so long an operation counts a half";
        hysteresis: f64 = arg(long, value_name = "TIMES", default_value = "1.5", conflicts_with_all = ["backing", "fault", "heat"])
            "How much hotter an extent is than the one it displaces";
        trace: Option<PathBuf> = arg(long, conflicts_with_all = ["backing", "fault", "heat"], value_name = "FILE", value_hint = ValueHint::FilePath)
            "Add a line for each move to this file";
        heat: bool = arg(long) "Print what the tiers at --at saw: heat by file";
        json: bool = arg(long, requires = "heat") "Print as JSON";
    }

    /// `link`.
    Link {
        listen: Option<String> = arg(long, value_name = "ADDRESS", requires = "to")
            "Where it listens: HOST:PORT, or the path of a socket";
        to: Option<String> = arg(long, value_name = "ADDRESS", requires = "listen") "Whom it connects to";
        path: Vec<String> = arg(long, value_name = "WORDS", requires = "listen")
            "How long, wide and crowded a path is; the first is preferred";
        balance: bool = arg(long, requires = "listen") "New connections take the path with the fewest";
        failover: String = arg(long, value_name = "TIME", default_value = "200ms")
            "How long a sender waits for a cut path";
        orders: Option<PathBuf> = arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath)
            "Take orders at this socket; with --order, give one";
        order: Option<String> = arg(long, value_name = "ORDER", requires = "orders", conflicts_with = "listen")
            "Tell a relay: cut, heal, tell ..";
        user: Option<u32> = arg(long, hide = true) "The user, by number, who may connect";
        cost: bool = arg(long, conflicts_with_all = ["listen", "order"]) "Measure what a relay itself costs here";
        json: bool = arg(long) "Print as JSON";
    }

    /// `calibrate`.
    Calibrate {
        model: String = arg(value_name = "MODEL", value_hint = ValueHint::FilePath)
            "Name of a shipped model, or path of a model file";
        rows: Vec<String> = arg(value_name = "ROWS", value_hint = ValueHint::FilePath) "Tables of rows";
        profile: Option<String> = arg(long, value_name = "RUN", value_hint = ValueHint::FilePath)
            "Take what transactions ask for from this run";
        trial: Option<u32> = arg(long, value_name = "N", requires = "profile") "Which trial of that run";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the calibrated model to this new file";
        json: bool = arg(long) "Print as JSON";
    }

    /// `predict`.
    Predict {
        study: String = arg(value_name = "STUDY", value_hint = ValueHint::FilePath)
            "Name of a shipped study, path of a study file, or a table of rows";
        changes: Changes = command(flatten);
        find: Option<String> = arg(long, value_name = "KEY", requires = "need") "Find how many of this it takes";
        need: Vec<String> = arg(long, value_name = "QUANTITY>=N", action = ArgAction::Append, requires = "find")
            "What is needed, with --find [repeatable]";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the prediction to this new file";
        json: bool = arg(long) "Print as JSON";
    }

    /// `judge`.
    Judge {
        model: String = arg(value_name = "MODEL", value_hint = ValueHint::FilePath)
            "Name of a shipped model, or path of a model file";
        rows: Vec<String> = arg(value_name = "ROWS", required = true, value_hint = ValueHint::FilePath)
            "Tables of rows";
        json: bool = arg(long) "Print as JSON";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Also draw rows and predictions on a page";
    }

    /// `tag`.
    Tag {
        choice: RunChoice = command(flatten);
        tags: Vec<String> = arg(value_name = "TAG", required = true) "Tags to add";
        remove: bool = arg(long) "Take the tags away instead";
    }

    /// `note`.
    Note {
        choice: RunChoice = command(flatten);
        text: String = arg(value_name = "TEXT") "The remark; empty removes it";
    }

    /// `redact`.
    Redact {
        choice: RunChoice = command(flatten);
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the copy to FILE [default: ID-redacted.prony]";
    }

    /// `clean`.
    Clean {
        dir: Option<PathBuf> = arg(value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder to look in [default: this folder]";
        dry_run: bool = arg(long) "Only name what would be removed";
    }

    /// `completions`.
    Completions {
        shell: clap_complete::Shell = arg(value_name = "SHELL") "The shell";
    }

    /// `man`.
    Man {
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Write one page a command into DIR";
    }

    /// `reference`.
    Reference {
        page: Page = arg(value_name = "PAGE", default_value = "cli") "Which page";
    }
}

/// A page of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// The command line
    Cli,
    /// The keys of a study file
    Keys,
}
