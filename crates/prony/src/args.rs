//! What a user may type: every command, flag and word of help, as one table.
//!
//! The one idea: the help, the completions, the man pages and `docs/reference/cli.md` all come from these definitions,
//! so that none of them can say something else. Here a value only has its type; what it means is checked by the
//! command that takes it (`checked.rs`), so that every problem is told in Prony's own words.
//!
//! What it does not do: it opens nothing and runs nothing.

// Documentation is the help that users see; what stands in brackets there is no link.
#![allow(rustdoc::broken_intra_doc_links)]

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;
use units::Nanos;

/// Structs of arguments: how each is typed, its help in one line, and its help in full.
macro_rules! arguments {
    ($($(#[$about:meta])* $name:ident {
        $($field:ident: $kind:ty = $attribute:ident($($how:tt)*) $($short:literal $(, $full:literal)?)?;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Args)]
        pub struct $name {
            $($(#[doc = $short])? #[$attribute($($how)* $($(, long_help = $full)?)?)] pub $field: $kind,)*
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
        NO_COLOR is honoured. Only what another program would read goes to stdout."
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
    #[command(
        long_about = "A first look at this storage in 45 seconds; nothing to set up.\n\n\
            Runs the shipped study `quick` on scratch files in a folder: random reads at queue depths 1 to 64, random \
            writes, a 70/30 mix, sequential reads and writes, and durable writes, for which a commit waits; then a small \
            brokerage house on an embedded SQLite in the cache folder: transactions a second. It writes at most 2 GiB to \
            the folder, less when that has less room, and says how much before it begins. The scratch files are removed; \
            the small data set of SQLite stays in the cache folder for the next time. The answer goes to the terminal, \
            the report to an HTML page beside the run file.",
        after_long_help = "Examples:\n  prony quick\n  prony quick /mnt/data --json"
    )]
    Quick(Quick),
    /// What ships, one line each
    #[command(
        long_about = "Lists the studies that ship with Prony, one line each: its name and the question it answers.\n\n\
            With a name it prints the study file, which is the best start for a study of your own.",
        after_long_help = "Examples:\n  prony studies\n  prony studies flash > mine.toml"
    )]
    Studies(Studies),
    /// All problems of a study, with line and column
    #[command(
        long_about = "Reads a study and says everything that is wrong with it at once, each problem with its line, \
            column, allowed range and the value found. Touches nothing: no system is opened or looked at.",
        after_long_help = "Examples:\n  prony check mine.toml\n  prony check flash --set measure=5s --on file:/mnt/data"
    )]
    Check(Check),
    /// What a run would do: trials, order, time, every byte written
    #[command(
        long_about = "Shows what a run would do before anything is touched: the trials in their order with the seed \
            that gives it, the estimated time, the difference that the replicates can detect, and every byte that \
            would be written, by phase. Looks at the machine read-only, for sizes, free space and what stands in the way of \
            writing a device.",
        after_long_help = "Examples:\n  prony plan quick\n  prony plan flash --on device:/dev/nvme1n1 --set modules=1 --seed 7"
    )]
    Plan(Plan),
    /// Run a study; keep everything in one file
    #[command(
        long_about = "Runs a study and keeps everything that was observed in one file. The file survives a crash at any \
            moment with every finished interval; `--resume` goes on where a run was cut short.\n\n\
            A file system is only written in scratch files that Prony makes itself. A device is only written with \
            `--destroy`, bound to its identity and size, and never while anything uses it; one that is only read is opened \
            for reading only, and needs no consent.\n\n\
            Exit codes: 0 fine; 1 a threshold failed, or was inconclusive without --allow-inconclusive, or data was damaged \
            or operations failed (--allow-damage, --allow-errors); 2 an error, \
            or stopped by Ctrl-C (what was finished is kept).",
        after_long_help = "Examples:\n  prony run flash --on file:/mnt/data --set size=8GiB --html flash.html\n  \
            prony run wide --on /mnt/a --on /mnt/b --set width=1,2,4 --set replicates=4 --json"
    )]
    Run(Run),
    /// The runs in a folder
    #[command(
        long_about = "Lists the run files in a folder, oldest first: id, study, systems, how many trials are in it, and \
            tags. Files that are not runs, or that this version cannot open, are named with the reason.",
        after_long_help = "Examples:\n  prony list\n  prony list /var/lib/prony --json"
    )]
    List(List),
    /// The answer and tables of a run, in the terminal
    #[command(
        long_about = "Judges a run again from its raw observations and prints the answer first, then findings, tables \
            and caveats. Nothing in the run file changes.",
        after_long_help = "Examples:\n  prony show latest\n  prony show 2026-11-21T2130-flash --csv > flash.csv"
    )]
    Show(Show),
    /// The report of a run as one HTML page
    #[command(
        long_about = "Writes the report of a run as one self-contained HTML page: the answer, figures with their \
            intervals and a table under each, the method, the configuration and every caveat. It needs no network and \
            prints well.",
        after_long_help = "Examples:\n  prony report latest\n  prony report flash.prony -o flash.html"
    )]
    Report(Report),
    /// Systems of a run, or two runs, against each other
    #[command(
        long_about = "Compares the systems of one run, or two runs, metric by metric: ratio, interval, and one of four \
            verdicts: better, worse, equivalent, inconclusive.\n\n\
            Trials of one run alternate between its systems, so their difference can be judged. Two separate runs \
            differ by more than their systems; without known between-run variance the verdict is inconclusive.\n\n\
            Exit codes: 0 fine; 1 the primary comparison is worse, or is inconclusive without --allow-inconclusive; \
            2 an error.",
        after_long_help = "Examples:\n  prony compare latest --baseline old\n  prony compare before.prony after.prony --json"
    )]
    Compare(Compare),
    /// What an earlier run left on its files or devices, checked
    #[command(
        long_about = "Reads what an earlier run left on its files or devices, and holds every sector against the stamps and \
            against what the run's file knows of them: bits that flipped, sectors of another place or another run, zeros, and, \
            where the run checked its writes (`validate`, `verify`), writes that were acknowledged and lost, in part or in \
            whole. Everything is opened for reading only.\n\n\
            Scratch files are there after `prony run --keep`, and after a run that was killed.\n\n\
            Exit codes: 0 all is as it was written; 1 data is damaged; 2 an error.",
        after_long_help = "Examples:\n  prony verify latest\n  prony verify flash.prony --on device:/dev/nvme1n1 --json"
    )]
    Verify(Verify),
    /// What the load generator itself can do on this machine
    #[command(
        long_about = "Measures the load generator on a system that answers at once: nanoseconds an operation, the cost of \
            a clock reading, how late it issues, and how true its open rate is. A result near these figures says more \
            about the generator than about the storage. Then one outstanding operation on a disk, through io_uring and by \
            pread: a run makes the same choice on its own storage, for workers of one outstanding operation.",
        after_long_help = "Examples:\n  prony ceiling --on /mnt/data\n  prony ceiling --model\n  prony ceiling --model --json"
    )]
    Ceiling(Ceiling),
    /// A disk or flash device that is not there
    #[command(
        long_about = "Mounts a folder whose reads, writes and flushes take as long as those of a model, until Ctrl-C or until it is \
            unmounted. Requests queue as on the device, and its memory holds writes until a flush. Names and sizes pass at once. \
            It needs FUSE and the right to mount; everything else of Prony works without.\n\n\
            With --fault it does something to a device that is mounted: `power-loss` drops every write that no flush made \
            durable, tears the last one and stops serving; `lie` acknowledges flushes without making them; `full`, \
            `read-error=OFFSET`, `slow=TIMES` and `hang` do what they say, and `none` ends all of them but a lost power.",
        after_long_help = "Examples:\n  prony emulate disk-15k --backing /srv/slow --at /mnt/slow &\n  \
            prony run flash --on file:/mnt/slow --set measure=3s\n  prony emulate --at /mnt/slow --fault power-loss\n  \
            prony emulate tiered --fast nand-device:/srv/fast --slow disk-15k:/srv/slow --at /mnt/both &"
    )]
    Emulate(Emulate),
    /// A wire between two programs: long, narrow, crowded or cut
    #[command(
        long_about = "Stands between two programs that talk over a socket, for as long as it runs, and makes the wire between them long, \
            narrow, crowded, cut or half-open. Bytes come whole and in order; a cut path is silent, and brings what was sent over it \
            once it is healed.\n\n\
            A path is said in words: delay=50us or km=10 (5 us a km one way), jitter=5us, capacity=1GB/s, and aggressor=500MB/s for \
            somebody else's traffic, with share=20% for what that has for certain. How late it wakes up is measured when it starts \
            and taken off the delay.",
        after_long_help = "Examples:\n  prony link --listen 127.0.0.1:6001 --to 127.0.0.1:5432 --path km=10 --orders /tmp/link &\n  \
            prony link --orders /tmp/link --order cut\n  prony link --orders /tmp/link --order 'shape 1 km=100 capacity=10MB/s'\n  \
            prony link --cost"
    )]
    Link(Link),
    /// Fit a model on rows
    #[command(
        long_about = "Fits the numbers of a model that nobody gave on rows that were measured or published, says what the rows \
            cannot tell apart, and how wrong each row would have been had it been left out.\n\n\
            MODEL is the name of a model that ships, or the path of a model file. ROWS are tables: CSV with a head, the unit \
            of a column in its name.",
        after_long_help = "Examples:\n  prony calibrate f5100 rates.csv service_time.csv\n  \
            prony calibrate ./mine.toml measured.csv -o mine-fitted.toml --json\n  \
            prony calibrate small-server --profile latest -o mine.toml\n\n\
            Tables to look at are in `models/rows` of Prony's sources; they are no part of the program."
    )]
    Calibrate(Calibrate),
    /// What a described machine would answer
    #[command(
        long_about = "Predicts every point of a study on a model, or every row of a table, with a 95 percent interval each. \
            Nothing is opened and nothing is measured. The prediction carries a hash of itself and of the model, so that it \
            can be written down first and nobody can tune it afterwards.",
        after_long_help = "Examples:\n  prony predict brokerage --on model:s824-fs840 --set customers=6000 --set sessions=80,96,112\n  \
            prony predict flash --on model:f5100 --set modules=160 --only random-read -o prediction.json"
    )]
    Predict(Predict),
    /// How wrong a model is on rows that it never saw
    #[command(
        long_about = "Prints every value of a table beside what the model says of it, with its interval, the error, the rounding \
            of the source, and three simple laws that saw the same calibration rows: linear scaling, the Universal Scalability \
            Law, and the best law of two parameters. Rows that the model was fitted on are shown and never counted.",
        after_long_help = "Examples:\n  prony judge f5100 service_time.csv\n  prony judge s824-fs840 mine.csv --json\n\n\
            Tables to look at are in `models/rows` of Prony's sources; they are no part of the program."
    )]
    Judge(Judge),
    /// Private database servers and data sets
    #[command(
        subcommand,
        long_about = "Starts and stops private database servers, and fills and checks data sets, without a run. A run does \
            all of this by itself when it needs to; servers and data stay for the next one.\n\n\
            Prony touches only schemas, databases and files that it made and marked.",
        after_long_help = "Examples:\n  prony db fill brokerage --on local:postgres --set preset=house --set customers=1000\n  \
            prony db check brokerage --on local:postgres --json"
    )]
    Db(Db),
    /// Which tables and indexes belong on the fast tier, and the moves
    #[command(
        subcommand,
        long_about = "Finds on a live database which tables and indexes belong on the fast tier, moves them there, keeps them there as \
            the heat wanders, and puts everything back.\n\n\
            Advice reads statistics alone and changes nothing. A move changes the database: its plan, made by \
            `prony tier advise`, is bound to one server, database and tablespace, and fits no other. The fast tier of a MariaDB is a \
            folder of the server's.",
        after_long_help = "Examples:\n  prony tier advise postgres://me@host/db --window 60s --budget 10GiB -o plan.json\n  \
            prony tier move postgres://me@host/db --plan plan.json\n  prony tier undo postgres://me@host/db"
    )]
    Tier(Tier),
    /// Mirrored pairs of databases: brought up, disturbed, mended
    #[command(
        subcommand,
        long_about = "Brings up two private PostgreSQL servers of which one mirrors the other, by its log (postgres-pair) or row by row in \
            lock step (two-phase-pair), and disturbs and mends them: what changes while the mirror is away is kept in a list, and sent when it comes back.\n\n\
            Nobody watches a pair between two commands: each command looks at both nodes first, and does what follows from what it sees. \
            Commits that wait for a mirror that was lost wait until then. Without --dir a command means the pair that was brought up last.",
        after_long_help = "Examples:\n  prony pair up postgres-pair --dir /var/tmp/pair --sync on\n  \
            prony pair up two-phase-pair --dir /var/tmp/pair && prony pair serve --listen 127.0.0.1:6000\n  \
            prony pair suspend\n  prony pair resume\n  prony pair check --json\n  prony pair down --remove"
    )]
    Pair(Pair),
    /// What a synchronous mirror would cost a live database
    #[command(
        long_about = "Watches a live PostgreSQL or MariaDB over a window and says what a synchronous mirror at a distance would cost it: the \
            time added to a commit, response, throughput, sessions and cores to compensate, each with an interval and what it rests on; what \
            its work is made of; what to change first, with what that is worth; what to leave out of the mirror; and what could not be \
            seen. Reads statistics and catalogues alone, and changes nothing.",
        after_long_help = "Examples:\n  prony assess postgres://me@host/db --window 60s --distance 10km\n  \
            prony assess mysql://me@host/db --distance 40km --kind row --mirror-flush 0.2ms --json -o assessment.json"
    )]
    Assess(Assess),
    /// What clients say to a live database, kept to be sent again
    #[command(
        long_about = "Listens to what clients say to a live PostgreSQL or MariaDB over a window, and writes their statements with their \
            times, values and sessions into a file, which `prony run replay` sends again: on a pair, another layout or another server \
            that has a copy of the data.\n\n\
            Reads what the server writes down already, and changes nothing: its log, where every statement stands in it \
            (`log_min_duration_statement = 0`; of MariaDB `log_output = 'TABLE'` with `long_query_time = 0`), else its list of \
            sessions every 10 ms, which misses short statements. Says what it could not hear and how to switch it on. Ctrl-C ends the \
            window; what was heard is kept. Statements that may name a password are left out.",
        after_long_help = "Examples:\n  prony capture postgres://me@host/db --window 60s -o shop.trace\n  \
            prony capture postgres://me@localhost/db --log /var/log/postgresql/postgresql-15-main.log\n  \
            prony run replay --on postgres://me@copy/db --set trace=shop.trace --set sessions=8 --set measure=60s"
    )]
    Capture(Capture),
    /// What is understood of files that other programs run
    #[command(
        subcommand,
        long_about = "Shows what Prony understands of a file that was written for another program, so that it can be run \
            unchanged: nothing is converted, and nothing is touched.",
        after_long_help = "Examples:\n  prony import pgbench transfer.sql\n  prony import pgbench transfer.sql --json"
    )]
    Import(Import),
    /// Add or remove tags of a run
    #[command(
        long_about = "Adds tags to a run, or removes them. Tags are labels for `list`; observations never change.",
        after_long_help = "Examples:\n  prony tag latest baseline kernel-6.8\n  prony tag latest --remove baseline"
    )]
    Tag(Tag),
    /// Write a remark into a run
    #[command(
        long_about = "Writes a remark into a run, in place of the one before. It stands in the report under the answer.",
        after_long_help = "Examples:\n  prony note latest \"after the firmware update\"\n  prony note latest \"\""
    )]
    Note(Note),
    /// A copy of a run without host names, paths and serial numbers
    #[command(
        long_about = "Writes a copy of a run that leaves out host names, users, addresses, paths and serial numbers, wherever \
            they stand, so that it can be handed to others. Tags and your note stay but for those names; read the note \
            before you hand the copy on, or empty it with `prony note`. The run itself stays as it is.",
        after_long_help = "Examples:\n  prony redact latest\n  prony redact flash.prony -o for-the-vendor.prony"
    )]
    Redact(Redact),
    /// Remove scratch files that a killed run left behind
    #[command(
        long_about = "Finds scratch folders that a killed run left in a folder, and removes them. Only folders that \
            Prony made, and that no running Prony holds, are touched. Data sets that a check found broken, and that were \
            kept in the cache folder to be looked at, go too.",
        after_long_help = "Examples:\n  prony clean /mnt/data --dry-run\n  prony clean /mnt/data"
    )]
    Clean(Clean),
    /// Completions for a shell
    #[command(
        long_about = "Prints completions for a shell, made from the definitions of this help.",
        after_long_help = "Examples:\n  prony completions bash > /etc/bash_completion.d/prony\n  \
            prony completions fish > ~/.config/fish/completions/prony.fish"
    )]
    Completions(Completions),
    /// The manual pages
    #[command(
        long_about = "Prints the manual page of Prony, or writes one page a command into a folder.",
        after_long_help = "Examples:\n  prony man | man -l -\n  prony man --dir docs/man"
    )]
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
            "Name of a shipped study, or path of a study file",
            "Name of a shipped study (see `prony studies`), or the path of a study file. A word with a slash \
             or ending in .toml is a path.";
        changes: Changes = command(flatten);
    }

    /// What to change in a study without editing it.
    #[derive(Clone, Default)]
    Changes {
        on: Vec<String> = arg(long, value_name = "TARGET", action = ArgAction::Append) "System to run on [repeatable]",
            "Run on this system instead of those in the study. Repeat it for two systems side by side. \
             TARGET is a folder, `file:DIR`, `emulated:MODEL:DIR` for a device of a model that is mounted over DIR, `device:PATH`, `sqlite:`, `sqlite:FILE`, `local:postgres`, `local:mariadb`, \
             `postgres://..`, `mysql://..`, `null:`, `null-database:`, `model:f5100`, `model:./mine.toml`, \
             `model:f5100,failed_ports=2` for a model with other numbers, or \
             `scripted:service=100us,servers=8`; \
             `NAME=TARGET` gives it a name. Default: the systems of the study.";
        set: Vec<String> = arg(long, value_name = "KEY=VALUE", action = ArgAction::Append)
            "Change a key of the study [repeatable]",
            "Change a key of the study, with the unit that it needs: `measure=5s`, `size=256MiB`. A list \
             (`modules=1,2,4`) sets the levels of a factor. Repeat it for several keys. Default: as the study says.";
        only: Vec<String> = arg(long, value_name = "NAME", action = ArgAction::Append)
            "Experiment or workload to keep [repeatable]",
            "Keep only the experiment of this name, or of every experiment what runs the workload of this name. Repeated, all that any \
             of the names keeps is kept: an experiment and a workload keep more than what they have in common. Default: all.";
        allow_server_settings: bool = arg(long) "Let a study give private servers any setting",
            "Let a study give private servers any setting. Default: only settings that move performance, by full name; \
             others may run commands, load libraries or open the server to the network.";
        password_file: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "File with the password of the databases",
            "File whose first line is the password of databases whose URLs say none; nobody but its owner may be able to \
             read it. Default: `PGPASSWORD`, the file that `PGPASSFILE` names, or `MYSQL_PWD`. Only servers that --on names are \
             told it, so that no study sends it to a server of its author's; a line of the file that `PGPASSFILE` names says its \
             own server.";
    }

    /// `quick`.
    Quick {
        dir: Option<PathBuf> = arg(value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder to look at [default: this folder]",
            "Folder on the storage to look at; scratch files are made in it and removed at the end. \
             Default: the current folder.";
        on: Option<String> = arg(long, value_name = "DIR", conflicts_with = "dir", value_hint = ValueHint::DirPath)
            "The same folder, as other commands have it",
            "The folder to look at, as `--on` of other commands has it: `DIR` or `file:DIR`.";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the run to this new file",
            "Write the run to FILE. Default: a new `YYYY-MM-DDTHHMM-quick.prony` in the current folder; an \
             existing file is never overwritten.";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the report here, not beside the run",
            "Write the report to FILE. Default: beside the run file, with the ending .html.";
        seed: Option<u64> = arg(long, value_name = "N") "Seed of every random choice [default: fresh]",
            "Seed of every random choice: order, offsets, arrivals. Default: fresh, and always recorded.";
        json: bool = arg(long) "Print the run as JSON on stdout",
            "Print the run as JSON (schema prony/run/1) on stdout instead of the answer.";
        voice: Voice = command(flatten);
    }

    /// How much to say on stderr.
    #[derive(Clone, Copy, Default)]
    Voice {
        quiet: bool = arg(short, long, conflicts_with = "verbose") "Say nothing on stderr but errors",
            "Say nothing on stderr but errors. Default: the plan in a few words, and progress on a terminal.";
        verbose: bool = arg(short, long) "Say each phase on stderr",
            "Say each phase of each trial on stderr, one line each, also where stderr is no terminal.";
        progress: Option<Nanos> = arg(long, value_name = "TIME", value_parser = every, conflicts_with = "quiet")
            "Say a line so often: rate, p50, p99, failures, time left",
            "Say a line on stderr every TIME, such as `1s`, also where stderr is no terminal: operations a second, p50 and p99 of \
             the last interval, failures so far, and the time that is left. Default: one line that changes, on a terminal.";
    }

    /// `studies`.
    Studies {
        name: Option<String> = arg(value_name = "NAME") "Print the file of this study",
            "Print the file of this study. Default: list them all.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/studies/1).";
    }

    /// `check`.
    Check {
        choice: StudyChoice = command(flatten);
        json: bool = arg(long) "Print as JSON",
            "Print as JSON (schema prony/check/1); the exit code still says whether it is sound.";
    }
}

/// `import`.
#[derive(Debug, clap::Subcommand)]
pub enum Import {
    /// A script of transactions in pgbench's language
    #[command(
        long_about = "Shows command by command what a script in pgbench's language does here, which variables it needs, its \
            statements as the server sees them, and notes on what differs from pgbench or may surprise. The study `sql` \
            runs the file as it is.\n\n\
            Exit codes: 0 it can be run, with or without notes; 2 it cannot be read, with every problem and its place.",
        after_long_help = "Examples:\n  prony import pgbench transfer.sql\n  prony import pgbench transfer.sql --json"
    )]
    Pgbench(ImportPgbench),
}

arguments! {
    /// `import pgbench`.
    ImportPgbench {
        file: PathBuf = arg(value_name = "FILE", value_hint = ValueHint::FilePath) "The script",
            "The script, as it would be given to `pgbench -f`.";
        json: bool = arg(long) "Print as JSON",
            "Print as JSON (schema prony/import/1); the exit code still says whether it can be run.";
    }
}

/// `tier`.
#[derive(Debug, clap::Subcommand)]
pub enum Tier {
    /// Which tables and indexes belong on the fast tier
    #[command(
        long_about = "Samples a database over a window and says which tables and indexes belong on the fast tier, for how many bytes, \
            and what share of the wait for storage that saves; or why nothing is gained. Reads statistics and catalogues alone, and \
            tells what each move would cost before it is made.",
        after_long_help = "Examples:\n  prony tier advise postgres://me@host/db --window 60s --budget 10GiB -o plan.json\n  \
            prony tier advise mysql://me@host/db --fast /srv/fast --slow-read 6ms --fast-read 0.2ms --html advice.html"
    )]
    Advise(TierAdvise),
    /// Carry out a plan, object by object
    #[command(
        long_about = "Carries out a plan of `prony tier advise`, object by object, indexes first. An index is built anew at its new \
            place while everybody goes on; a table is copied under a lock, with MariaDB together with its indexes while others may read it. \
            Who holds a lock longer than --lock-timeout keeps his \
            object where it is, and the others go on. Ctrl-C leaves everything whole; the same command goes on where it stopped.\n\n\
            Exit codes: 0 everything lies where the plan has it; 1 something was left where it was, or is gone; 2 an error, or stopped.",
        after_long_help = "Examples:\n  prony tier move postgres://me@host/db --plan plan.json --dry-run\n  \
            prony tier move mysql://me@host/db --plan plan.json --lock-timeout 5s --rate 100MB/s"
    )]
    Move(TierMove),
    /// Put everything back where it was
    #[command(
        long_about = "Puts every table and index that `prony tier` moved back where it lay before the first move, and removes the journal \
            that was kept in the database for it (the schema prony_tier).\n\n\
            Exit codes: 0 everything is back; 1 something was left where it was; 2 an error, or stopped.",
        after_long_help = "Examples:\n  prony tier undo postgres://me@host/db --dry-run\n  prony tier undo postgres://me@host/db"
    )]
    Undo(TierUndo),
    /// Keep hot objects on the fast tier as the heat wanders
    #[command(
        long_about = "Looks again and again, and keeps what is hot on the fast tier: heat fades, two that are nearly alike do not change \
            places, and a move is made only if it pays for itself within a stated time, before which the object is not moved back. \
            Every decision is printed with its numbers. Ctrl-C ends it; `prony tier undo` puts everything back.",
        after_long_help = "Examples:\n  prony tier balance postgres://me@host/db --fast fast --budget 10GiB --every 60s --dry-run\n  \
            prony tier balance postgres://me@host/db --budget 10GiB --every 5min --pay-off 1h"
    )]
    Balance(TierBalance),
}

arguments! {
    /// Where the fast tier is.
    TierFast {
        space: String = arg(long = "fast", id = "fast", value_name = "TABLESPACE", default_value = "fast") "Tablespace of the fast tier",
            "Tablespace of the fast tier; with MariaDB its folder. A tablespace that is not there yet is no obstacle to advice.";
    }

    /// What both tiers are made of.
    TierTimes {
        slow_device: String = arg(long, value_name = "MODEL", default_value = "disk-15k") "Model of the slow tier",
            "Model whose times the slow tier has: one that ships, or the path of a model file.";
        fast_device: String = arg(long, value_name = "MODEL", default_value = "nand-device") "Model of the fast tier",
            "Model whose times the fast tier has: one that ships, or the path of a model file.";
        slow_read: Option<String> = arg(long, value_name = "TIME") "Random read of 8 KiB on the slow tier",
            "Time of a random read of 8 KiB on the slow tier, as `prony run flash` measures it. Default: the model's.";
        fast_read: Option<String> = arg(long, value_name = "TIME") "Random read of 8 KiB on the fast tier",
            "Time of a random read of 8 KiB on the fast tier. Default: the model's.";
        slow_flush: Option<String> = arg(long, value_name = "TIME") "Flushed write on the slow tier",
            "Time of a flushed write of 8 KiB on the slow tier. Default: the model's write.";
        fast_flush: Option<String> = arg(long, value_name = "TIME") "Flushed write on the fast tier",
            "Time of a flushed write of 8 KiB on the fast tier. Default: the model's write.";
    }

    /// The database.
    TierPlace {
        url: String = arg(value_name = "URL") "Database: `postgres://..` or `mysql://..`",
            "Database: `postgres://USER@HOST:PORT/DATABASE` or `mysql://USER@HOST:PORT/DATABASE`.";
        password_file: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "File with the password of the database",
            "File whose first line is the password of the database; nobody but its owner may be able to read it. \
             Default: `PGPASSWORD`, the file that `PGPASSFILE` names, or `MYSQL_PWD`.";
    }

    /// `tier advise`.
    TierAdvise {
        place: TierPlace = command(flatten);
        window: String = arg(long, value_name = "TIME", default_value = "10s") "How long to watch",
            "How long to watch. Heat that is not in the window is not in the advice: choose a busy hour, or a whole night.";
        slices: Option<u32> = arg(long, value_name = "N") "Slices of the window, for the intervals [default: up to 10]",
            "Slices of the window, from which the intervals come; each is at least 1 s, because servers report about once a \
             second. Default: 10, fewer in a window shorter than 10 s.";
        budget: Option<String> = arg(long, value_name = "SIZE") "Room on the fast tier [default: that of the knee]",
            "Room on the fast tier, such as `10GiB`. Default: that of the knee of the curve.";
        memory_price: f64 = arg(long, value_name = "TIMES", default_value = "1") "What a byte of memory costs, in bytes of the fast tier",
            "How many times as much a byte of memory costs as one of the fast tier: the budget as more buffer memory is held against \
             the plan.";
        fast: TierFast = command(flatten);
        tiers: TierTimes = command(flatten);
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the plan to this new file",
            "Write the advice with its plan to FILE, as JSON, for `prony tier move`. An existing file is never overwritten.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/tier-advice/1), which is a plan too.";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath) "Also draw the curve on a page",
            "Also draws the sweet-spot curve on one self-contained HTML page, a new file.";
    }

    /// `assess`.
    Assess {
        place: TierPlace = command(flatten);
        window: String = arg(long, value_name = "TIME", default_value = "10s") "How long to watch",
            "How long to watch, 2 s at the least. What is not in the window is not in the figures: choose a busy hour. Sessions are looked \
             at one to ten times a second.";
        distance: String = arg(long, value_name = "KM|TIME", default_value = "10km") "How far the mirror is",
            "How far the mirror is: kilometres of fibre (`10km`, 5 us for each, one way), or the time one way (`50us`). `0km` is the same room.";
        kind: Option<String> = arg(long, value_name = "KIND", value_parser = ["commit", "write-set", "row"])
            "What a pair waits for [default: commit; of MariaDB write-set]",
            "What the pair waits for: `commit`, the commit record flushed by the mirror (synchronous replication of PostgreSQL); `write-set`, \
             the changes received and ordered (Galera); `row`, a round trip for each changed or locked row and two for the commit. Default: \
             `commit`; of MariaDB `write-set`.";
        mirror_flush: Option<String> = arg(long, value_name = "TIME", conflicts_with = "mirror_dir") "Time of a flush on the mirror",
            "Time of a flush of the log on the mirror. Default: that of this server where it is seen, else an assumption with its interval.";
        mirror_on: String = arg(long, value_name = "WHERE", value_parser = ["own-host", "same-host"], default_value = "own-host")
            "Where the mirror runs",
            "Where the mirror runs: on a machine of its own (`own-host`), or on that of the server (`same-host`), with whose processors and \
             disk it works. On the same host the load is played in virtual time, alone and with the mirror; a distance is then that of an \
             emulated wire. For a PostgreSQL on this machine, and `--kind commit`.";
        mirror_dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "A folder on the disk that the mirror will have",
            "A folder on the disk that the mirror will have: 8 KiB are written to a file there and flushed, up to 200 times in a second at the \
             most, and the file is removed. With `same-host` it also says whether both will flush to one disk, which is assumed else.";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Also write the assessment to this new file",
            "Also write the assessment to FILE, as JSON. An existing file is never overwritten.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/assess/1).";
    }

    /// `capture`.
    Capture {
        place: TierPlace = command(flatten);
        window: String = arg(long, value_name = "TIME", default_value = "10s") "How long to listen",
            "How long to listen. What is not in the window is not in the file: choose a busy hour.";
        log: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath) "The server's log on this machine",
            "The log of a PostgreSQL that runs on this machine: `.json` or `.csv` as it writes them, else lines that begin with `%m [%p]`. \
             Default: the log that the server collects and lets this user read.";
        listen: Option<String> = arg(long, value_name = "ADDRESS", conflicts_with = "log") "Relay clients from here, and hear them",
            "Relay clients from this address (HOST:PORT, or the path of a socket) to the server, and hear what passes: for servers whose log may \
             not be switched on. Point the application there for the window, without TLS. The server is not asked anything.";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "The file to write [default: statements.trace]",
            "Write the statements to FILE, which you alone may read. An existing file is never overwritten. Default: `statements.trace`.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/capture/1).";
    }

    /// How moves are made.
    TierManner {
        dry_run: bool = arg(long) "Only say what would be moved", "Only say what would be moved; change nothing.";
        lock_timeout: String = arg(long, value_name = "TIME", default_value = "2s") "How long to wait for a lock",
            "How long a move waits for a lock; MariaDB counts whole seconds. Everybody who comes after it waits behind it meanwhile.";
        rate: Option<String> = arg(long, value_name = "SIZE/s") "At most so many bytes a second, by pauses between objects",
            "At most so many bytes a second on the mean, such as `100MB/s`, by pauses between objects. One object is moved as fast as \
             the server can. Default: no limit.";
    }

    /// `tier move`.
    TierMove {
        place: TierPlace = command(flatten);
        plan: PathBuf = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath) "The plan of `prony tier advise`",
            "The plan: what `prony tier advise` wrote with --output, or printed with --json.";
        manner: TierManner = command(flatten);
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/tier-move/1).";
    }

    /// `tier undo`.
    TierUndo {
        place: TierPlace = command(flatten);
        even_if_moved: bool = arg(long) "Put back, too, what somebody else has moved since",
            "Put back, too, what somebody else has moved elsewhere since `prony tier` did. Default: that is left where it is, and told.";
        tiers: TierTimes = command(flatten);
        manner: TierManner = command(flatten);
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/tier-move/1).";
    }

    /// `tier balance`.
    TierBalance {
        place: TierPlace = command(flatten);
        budget: String = arg(long, value_name = "SIZE") "Room on the fast tier", "Room on the fast tier, such as `10GiB`.";
        every: String = arg(long, value_name = "TIME", default_value = "60s") "How often to look",
            "How often to look; each look weighs what happened since the last.";
        half_life: Option<String> = arg(long, value_name = "TIME") "After this time heat counts half [default: 5 looks]",
            "After this time heat counts half. Default: five times --every.";
        pay_off: String = arg(long, value_name = "TIME", default_value = "1h") "A move must pay for itself within this time",
            "A move must save as much wait as it takes time within this time, and its object is not moved back before.";
        rounds: Option<u32> = arg(long, value_name = "N") "End after so many looks", "End after so many looks. Default: at Ctrl-C.";
        fast: TierFast = command(flatten);
        tiers: TierTimes = command(flatten);
        manner: TierManner = command(flatten);
    }
}

/// `pair`.
#[derive(Debug, clap::Subcommand)]
pub enum Pair {
    /// Bring a pair up, or start what does not run of one
    #[command(
        long_about = "Makes two private PostgreSQL servers below a folder, fills the second from the first, and has it follow. A pair that is \
            there is started where it does not run, and what was cut off is gone on with. The folder must be empty, not there \
            yet, or a pair of Prony's.\n\n\
            The list of what a mirror lacks is the log of the primary, kept by a replication slot. When it is full (--list), the pair is \
            suspended for good, and everything is copied by the next `prony pair resume`.\n\n\
            A galera-pair is two private MariaDB that Galera joins: clients write on either, and a change that comes second to a row is refused. \
            What a node lacks that is away lies in a cache of the other one (--list).\n\n\
            A two-phase-pair is written through `prony pair serve`: each transaction is committed on both nodes in two phases. What a mirror \
            lacks is kept as keys of rows in tables of the primary.",
        after_long_help = "Examples:\n  prony pair up postgres-pair --dir /var/tmp/pair\n  \
            prony pair up two-phase-pair --dir /var/tmp/pair --leave-out 'public.work_*=only for a while'\n  \
            prony pair up galera-pair --dir /var/tmp/pair --voter garbd\n  \
            prony pair up postgres-pair --dir /var/tmp/pair --sync remote_apply --cores 0.5,1"
    )]
    Up(PairUp),
    /// What the pair does, why, and what to do next
    #[command(
        long_about = "Looks at both nodes and says what the pair does: replicating; tracking, since when, how much is behind and why; \
            resynchronising, with the time left; blocked; diverged. Says where the list of what the mirror lacks lives and what happens when \
            it is full. When it sees that a node was lost or came back, the pair does what follows from that.",
        after_long_help = "Examples:\n  prony pair status\n  prony run bank-day --on \"$(prony pair status --json | jq -r .nodes.a.url)\""
    )]
    Status(PairPlace),
    /// Let the mirror stay behind, and note what it lacks
    #[command(long_about = "Commits wait for the mirror no more, it stops following, and what changes is kept for it.")]
    Suspend(PairPlace),
    /// Send the mirror what it lacks, compare, and mirror again
    #[command(
        long_about = "Sends the mirror what it lacks, beside the load that goes on; then commits wait for it again, both nodes are compared \
            table by table, and the pair replicates. A node that may hold what the other has not goes back first (pg_rewind); where it cannot, \
            and where the list was full, everything is copied, and that is said."
    )]
    Resume(PairResume),
    /// Swap the roles of both nodes; nothing is lost
    #[command(
        long_about = "Clients end what they have begun, all of the log goes to the mirror, and both nodes change their roles. Who has not \
            ended within 5 s is cut off, and nothing of it is kept. Rows of tables that a two-phase-pair leaves out stay on the old primary: that \
            is said, and nothing is done without --accept-missing."
    )]
    Swap(PairSwap),
    /// Make the mirror of a lost primary the primary
    #[command(
        long_about = "Makes the mirror of a primary that does not answer the primary. The old one is ended if it still runs, and comes back as a \
            mirror. When something that was acknowledged is or may be missing, that is said, and nothing is done without --accept-missing. Of a postgres-pair the \
            log that the primary left is read: any commit there that the mirror lacks may be one that a client was told of, since each session may \
            lower synchronous_commit."
    )]
    TakeOver(PairTakeOver),
    /// Cut the link between both nodes
    #[command(
        long_about = "Ends the connection by which the mirror follows, and suspends the pair until `prony pair heal` and `resume`."
    )]
    Cut(PairPlace),
    /// Let the link carry again
    #[command(long_about = "Lets the link carry again. The pair stays suspended until `prony pair resume`.")]
    Heal(PairPlace),
    /// Compare both nodes, row by row
    #[command(
        long_about = "Compares both nodes table by table, by the number of rows and a hash over all of them, at one moment: writers wait until \
            the mirror has replayed what was written before, and go on while the tables are read.\n\n\
            Exit codes: 0 equal; 1 a table differs; 2 an error.",
        after_long_help = "Examples:\n  prony pair check\n  prony pair check --dir /var/tmp/pair --json"
    )]
    Check(PairPlace),
    /// Serve a two-phase pair to clients of PostgreSQL
    #[command(
        long_about = "Speaks PostgreSQL's protocol at an address, so that psql, pgbench or any application uses a two-phase pair: it writes on the \
            primary, and what rows it changes is changed on the other node in the same transaction, which is committed on both in two phases. When \
            the other node is lost, transactions under way end with SQLSTATE 40001 and may be tried again, and the next ones are noted for it. \
            After a change of roles clients connect again.\n\n\
            There is no password: the address is one of this machine unless --anywhere is given. The user of the system who serves gets a role \
            that may do everything. It is the lab's instrument, not a cluster for production.",
        after_long_help = "Examples:\n  prony pair serve --listen 127.0.0.1:6000\n  \
            pgbench -h 127.0.0.1 -p 6000 -i -s 1 postgres && pgbench -h 127.0.0.1 -p 6000 -c 4 -T 5 --max-tries 100 postgres"
    )]
    Serve(PairServe),
    /// Mirror a table that was left out
    #[command(
        long_about = "Mirrors a table again that --leave-out left out: it is copied beside the load, and compared."
    )]
    Add(PairAdd),
    /// Stop both nodes
    #[command(
        long_about = "Stops both nodes, the primary first, so that the mirror has all of its log. Their data stay, unless --remove is given. A \
            folder that is no pair of Prony's is not touched.",
        after_long_help = "Examples:\n  prony pair down\n  prony pair down --dir /var/tmp/pair --remove"
    )]
    Down(PairDown),
}

/// `db`.
#[derive(Debug, clap::Subcommand)]
pub enum Db {
    /// Start a private server, or see whether a database answers
    #[command(
        long_about = "Starts a private server from installed packages and keeps it until `prony db down`. With a URL it only \
            looks whether the database answers.",
        after_long_help = "Examples:\n  prony db up local:postgres --server shared_buffers=1GB\n  prony db up local:mariadb"
    )]
    Up(DbUp),
    /// Fill the data sets that a study needs
    #[command(
        long_about = "Fills the data sets that the trials of a study need, on every database that it names. A data set that \
            is there already is left as it is; one whose fill was interrupted is filled anew.",
        after_long_help = "Examples:\n  prony db fill brokerage --on local:postgres --set preset=house --set customers=1000\n  \
            prony db fill brokerage --on sqlite:shop.db"
    )]
    Fill(DbFill),
    /// Check the invariants of filled data sets
    #[command(
        long_about = "Checks what must hold for the data: sums, counts, chains of states. Without --set every data set of \
            the study's workloads on the database is checked; with --set the one that the study then needs. With --ledger the data sets of a run \
            are, and what it had acknowledged must be there: after a crash, a restore, or a failover.\n\n\
            Exit codes: 0 everything holds; 1 an invariant is broken or acknowledged work is missing; 2 an error.",
        after_long_help = "Examples:\n  prony db check brokerage --on local:postgres\n  \
            prony db check brokerage --on postgres://me@host/db --json\n  \
            prony db check --ledger run.prony"
    )]
    Check(DbCheck),
    /// Stop private servers
    #[command(
        long_about = "Stops the private servers that Prony started. Their data stays for the next time, unless --remove \
            is given. A server that Prony did not start is never touched.",
        after_long_help = "Examples:\n  prony db down\n  prony db down local:postgres --remove"
    )]
    Down(DbDown),
}

arguments! {
    /// Which pair, and how it is told.
    PairPlace {
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the pair [default: brought up last]", "Folder of the pair. Default: the one that was brought up last.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/pair-status/1; of `check`, prony/pair-check/1).";
    }

    /// `pair up`.
    PairUp {
        kind: Option<String> = arg(value_name = "KIND") "Kind of pair: `postgres-pair`, `two-phase-pair` or `galera-pair` [default: as it was]",
            "Kind of pair: `postgres-pair` (streaming replication of PostgreSQL), `two-phase-pair` (two servers in lock step, behind \
             `prony pair serve`), or `galera-pair` (two MariaDB that Galera joins, which both take writes). Default: that of the pair in the folder; \
             a new one needs it.";
        place: PairPlace = command(flatten);
        sync: Option<String> = arg(long, value_name = "LEVEL") "How far commits must have come [default: on]",
            "How far a commit must have come before it is acknowledged (`synchronous_commit`): `off` and `local` do not wait for the mirror; \
             `remote_write` waits for its memory, `on` for its disk, `remote_apply` until it can be read there. Default: as it was, \
             else `on`.";
        list: Option<String> = arg(long, value_name = "SIZE") "Room for what the mirror lacks [default: 4GiB]",
            "Room for what the mirror lacks: log that is kept for it (`max_slot_wal_keep_size`); of a galera-pair a file of that size on each \
             node (`gcache.size`). At least 32MiB. Default: as it was, else 4GiB, of a galera-pair 128MiB.";
        cores: Option<String> = arg(long, value_name = "A,B") "Cores of each node, such as `0.5,1`",
            "Cores of node a and of node b, such as `0.5,1`, by control groups. Default: both share those of the machine.";
        link: Option<String> = arg(long, value_name = "WORDS", conflicts_with = "via") "What the wire between both nodes is like: `km=10`",
            "Puts a relay between both nodes, and says what the wire is like: `plain`, or some of km=N, delay=TIME, jitter=TIME, \
             capacity=RATE, aggressor=RATE, share=SHARE and tls=on, as `prony link --help` says. `pair cut` and `heal` then cut and heal that wire. \
             Default: as it was, else directly.";
        device: Option<String> = arg(long, value_name = "A,B") "Where each node lies, such as `emulated:disk-15k:DIR1,DIR2`",
            "Where node a and node b of a pair of PostgreSQL lie: a folder each, or a device that is not there, `emulated:MODEL:DIR`, which stays mounted until the \
             pair goes down. Default: as it was, else in the folder of the pair.";
        leave_out: Vec<String> = arg(long, value_name = "PATTERN[=REASON]", action = ArgAction::Append)
            "Tables of a two-phase-pair that are not mirrored [repeatable]",
            "Tables of a two-phase-pair that are not mirrored: schema and name with `*` for any letters, such as `public.work_*=only for a while`. \
             Repeat it for several; those that were given before stay. `prony pair add` takes one back.";
        voter: Option<String> = arg(long, value_name = "WHO") "Who decides in a galera-pair: `none`, `weight` or `garbd`",
            "Who decides in a galera-pair whose nodes lose each other: `none`, so that whoever is left stands still until a command lets it \
             go on; `weight`, the first node has two votes; `garbd`, a third voter without data (package `galera-arbitrator-4`), with which \
             whoever is left goes on. Default: as it was, else `none`.";
        via: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath) "Folder of the sockets between both nodes",
            "Folder of the sockets by which the nodes reach one another: `DIR/a/.s.PGSQL.5432` leads to node a, `DIR/b/.s.PGSQL.5432` to node \
             b; whatever relays between them stands there. Default: as it was, else directly.";
    }

    /// `pair resume`.
    PairResume {
        place: PairPlace = command(flatten);
        discard_mirror: bool = arg(long) "Throw away what a mirror wrote alone",
            "Throw away what a mirror wrote alone that takes writes of its own beside the primary (split brain).";
        parallel: u16 = arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))
            "Sessions that send rows at once", "Sessions that send rows of a two-phase-pair at once.";
    }

    /// `pair serve`.
    PairServe {
        kind: Option<String> = arg(value_name = "PAIR") "Kind of the pair: `two-phase-pair`", "Kind of the pair: `two-phase-pair`.";
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the pair [default: brought up last]", "Folder of the pair. Default: the one that was brought up last.";
        listen: String = arg(long, value_name = "ADDRESS") "Address to listen at, such as `127.0.0.1:6000`",
            "Address to listen at: number and port, such as `127.0.0.1:6000`; port 0 is any that is free.";
        patience: String = arg(long, value_name = "TIME", default_value = "1s") "Silence after which a node counts as lost",
            "How long a node may be silent. After a half of that it is looked whether it lets anybody in; one that does not within the other \
             half counts as lost.";
        node: String = arg(long, value_name = "a|b", value_parser = ["a", "b"], default_value = "a") "Node that clients read on",
            "Node that clients read on while both are in step: statements outside of a transaction that only read. All others go to the primary, and \
             so do reads while that node is not in step; `prony pair status` says which.";
        anywhere: bool = arg(long) "Listen beyond this machine", "Let the address be one that other machines reach. Nobody is asked for a password.";
    }

    /// `pair add`.
    PairAdd {
        table: String = arg(value_name = "TABLE") "Schema and name of the table", "Schema and name of the table, such as `public.work`.";
        place: PairPlace = command(flatten);
    }

    /// `pair swap`.
    PairSwap {
        place: PairPlace = command(flatten);
        accept_missing: bool = arg(long) "Accept that left-out rows stay behind",
            "Accept that rows of tables that are left out stay on the node that was the primary.";
    }

    /// `pair take-over`.
    PairTakeOver {
        place: PairPlace = command(flatten);
        accept_missing: bool = arg(long) "Accept that something is missing",
            "Accept that something that was acknowledged is or may be missing.";
    }

    /// `pair down`.
    PairDown {
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder of the pair [default: brought up last]", "Folder of the pair. Default: the one that was brought up last.";
        remove: bool = arg(long) "Remove its data too", "Remove the folder with all data of both nodes. Default: they stay.";
    }

    /// `db up`.
    DbUp {
        target: String = arg(value_name = "TARGET") "Database: `local:postgres`, `local:mariadb`, or a URL",
            "Database to start or to look at: `local:postgres`, `local:mariadb`, or a URL.";
        server: Vec<String> = arg(long, value_name = "SETTING=VALUE", action = ArgAction::Append)
            "Setting of the private server [repeatable]",
            "Setting of the private server, by its own name: `shared_buffers=1GB`. Repeat it for several. \
             Default: the server's own choices.";
        allow_server_settings: bool = arg(long) "Let --server give any setting",
            "Let --server give any setting. Default: only settings that move performance, by full name; \
             others may run commands, load libraries or open the server to the network.";
        password_file: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "File with the password of the databases",
            "File whose first line is the password of databases whose URLs say none; nobody but its owner may be able to \
             read it. Default: `PGPASSWORD`, the file that `PGPASSFILE` names, or `MYSQL_PWD`.";
    }

    /// `db fill`.
    DbFill {
        choice: StudyChoice = command(flatten);
        verbose: bool = arg(short, long) "Say how far it is on stderr", "Say on stderr how far each stage is.";
    }

    /// `db check`.
    DbCheck {
        study: Option<String> = arg(value_name = "STUDY", required_unless_present = "ledger", value_hint = ValueHint::FilePath)
            "Name of a shipped study, or path of a study file",
            "Name of a shipped study (see `prony studies`), or the path of a study file. A word with a slash \
             or ending in .toml is a path. Left out with --ledger.";
        changes: Changes = command(flatten);
        ledger: Option<String> = arg(long, value_name = "RUN", conflicts_with = "study", value_hint = ValueHint::FilePath)
            "Hold what this run acknowledged against the data",
            "Hold what this run had acknowledged against the data too: file of a run, or its id in this folder. The data sets \
             are those of the run, in its databases or in the one that --on names.";
        json: bool = arg(long) "Print as JSON",
            "Print as JSON (schema prony/db-check/1); the exit code still says whether all holds.";
    }

    /// `db down`.
    DbDown {
        target: Option<String> = arg(value_name = "TARGET") "Server to stop [default: all private ones]",
            "Server to stop: `local:postgres` or `local:mariadb`. Default: all private ones.";
        remove: bool = arg(long) "Remove its data too",
            "Remove the server's folder with all its data sets. Default: they stay.";
    }

    /// Consents to lose what devices hold.
    #[derive(Clone, Default)]
    Consents {
        destroy: Vec<String> = arg(long, value_name = "CONSENT", action = ArgAction::Append)
            "ID:BYTES[:SIGNATURE] of a device to destroy",
            "Consent to destroy what a device holds, as ID:BYTES[:SIGNATURE]. ID is its serial number, WWN or name in \
             /dev/disk/by-path; BYTES its exact size; SIGNATURE the file system or partition table that may be lost \
             (left out: it must carry none). `prony plan` prints the consent that fits, as a refusal does. A device that is \
             mounted, swapped on or held is never written, whatever is given here.";
        in_use_anyway: bool = arg(long, requires = "destroy") "Destroy it even if a process has it open for writing",
            "Let --destroy hold for a device that another process has open for writing. Default: it is refused, and the process \
             is named, as far as you may look into others' processes.";
    }

    /// `plan`.
    Plan {
        choice: StudyChoice = command(flatten);
        consents: Consents = command(flatten);
        seed: Option<u64> = arg(long, value_name = "N") "Seed of every random choice [default: fresh]",
            "Seed of every random choice: order, offsets, arrivals. Default: fresh; hand the printed one to \
             `prony run --seed` for the same plan.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/plan/1).";
    }

    /// `run`; what `quick` asks for too.
    #[derive(Clone, Default)]
    Run {
        study: Option<String> = arg(value_name = "STUDY", required_unless_present = "resume", value_hint = ValueHint::FilePath)
            "Name of a shipped study, or path of a study file",
            "Name of a shipped study (see `prony studies`), or the path of a study file. A word with a slash \
             or ending in .toml is a path. Left out with --resume.";
        changes: Changes = command(flatten);
        backend: Option<Backend> = arg(long, value_name = "BACKEND", hide_possible_values = true)
            "`measured` (default) or `simulated`",
            "How the numbers are made. `measured` loads the real system. `simulated` runs on a simulated clock \
             and fits models (`--on model:NAME`) and scripted systems; they are simulated by nature, so that it can be \
             left out for them.";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the run to this new file",
            "Write the run to FILE. Default: a new `YYYY-MM-DDTHHMM-STUDY.prony` in the current folder. An \
             existing file is never overwritten. Put it on another disk than the one under test where you can.";
        seed: Option<u64> = arg(long, value_name = "N") "Seed of every random choice [default: fresh]",
            "Seed of every random choice: order, offsets, arrivals. Default: fresh, and always recorded, so \
             that a run can be repeated.";
        resume: Option<String> = arg(long, value_name = "RUN", value_hint = ValueHint::FilePath, conflicts_with_all = ["study", "set", "only", "backend", "output", "seed"])
            "Go on with a run that was cut short",
            "Go on with a run that was cut short: finished trials are kept, the others run in the planned \
             order. Study, systems and seed come from the file. RUN is a path, an id or its beginning, or `latest`. A server that \
             wants a password is confirmed with --on and its URL.";
        fail_if: Vec<String> = arg(long, value_name = "CONDITION", action = ArgAction::Append)
            "Exit with 1 when this is true [repeatable]",
            "Exit with 1 when this is true: `throughput < 10k/s`, `response p99 > 2ms`. Repeat it for several. \
             It is judged with its interval: a value that may lie on either side is inconclusive, and fails too unless \
             --allow-inconclusive is given.";
        allow_inconclusive: bool = arg(long) "Let inconclusive thresholds pass",
            "Let a threshold pass whose interval contains the limit, or whose value has none. Default: it fails.";
        allow_damage: bool = arg(long) "Let a run pass that found damaged data",
            "Let a run pass that read damaged data back, or whose checks found acknowledged work missing. Default: exit with 1.";
        allow_errors: bool = arg(long) "Let a run pass in which operations failed",
            "Let a run pass in which operations failed. Default: exit with 1, however few failed; --fail-if 'failed > 1%' beside \
             it sets another limit.";
        consents: Consents = command(flatten);
        keep: bool = arg(long) "Keep the scratch files",
            "Keep the scratch files when the run ends, and name them. Default: they are removed.";
        json: bool = arg(long) "Print the run as JSON on stdout",
            "Print the run as JSON (schema prony/run/1) on stdout instead of the text report.";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the report to FILE",
            "Write the report to FILE as one HTML page. Default: none; `prony report` makes it later.";
        tag: Vec<String> = arg(long, value_name = "TAG", action = ArgAction::Append) "Label the run [repeatable]",
            "Label the run; `prony list` shows it. Repeat it for several.";
        note: Option<String> = arg(long, value_name = "TEXT") "A remark for the report",
            "A remark that stands in the report. `prony note` changes it later.";
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
            "Folder with runs [default: this folder]",
            "Folder with runs. Default: the current folder. Folders inside it are not searched.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/list/1).";
    }

    /// `verify`.
    Verify {
        choice: RunChoice = command(flatten);
        on: Vec<String> = arg(long, value_name = "TARGET", action = ArgAction::Append) "Where its data is now [repeatable]",
            "Read it there instead of where the run says: a folder with the scratch files or above them, `file:DIR` or \
             `device:PATH`; `NAME=TARGET` for one of several systems. Default: the places in the run's file.";
        json: bool = arg(long) "Print as JSON",
            "Print as JSON (schema prony/verify/1); the exit code still says whether all is sound.";
    }

    /// A run that is there already.
    RunChoice {
        run: String = arg(value_name = "RUN", value_hint = ValueHint::FilePath)
            "Run file, id or its beginning, or `latest`",
            "A run: path of its file, or its id or the beginning of it in the current folder, or `latest`.";
    }

    /// `show`.
    Show {
        choice: RunChoice = command(flatten);
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/run/1).";
        csv: bool = arg(long, conflicts_with = "json") "Print as CSV, one line a trial and stream",
            "Print as CSV, one line a trial and stream, with plain numbers.";
        history: Option<u32> = arg(long, value_name = "TRIAL", conflicts_with_all = ["json", "csv"])
            "Print what each transaction of a trial on lists saw, as EDN for Elle",
            "Print what each transaction of a trial with `mix = lists` saw and appended, as EDN: the form that Elle (elle-cli, list-append) and \
             other checkers of histories read. The number is that of the trial, from 0.";
    }

    /// `report`.
    Report {
        choice: RunChoice = command(flatten);
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the page to FILE [default: beside the run]",
            "Write the page to FILE; `-` is stdout. Default: beside the run file, with the ending .html; a \
             report that is there is written anew.";
    }

    /// `compare`.
    Compare {
        choice: RunChoice = command(flatten);
        second: Option<String> = arg(value_name = "RUN", id = "second", value_hint = ValueHint::FilePath)
            "A second run; the first is then the baseline",
            "A second run, to be compared with the first, which is then the baseline. Default: compare the \
             systems of the first run.";
        baseline: Option<String> = arg(long, value_name = "SYSTEM", conflicts_with = "second")
            "System that others are compared with",
            "System that others are compared with. Default: the baseline of the study, else its first system.";
        allow_inconclusive: bool = arg(long) "Let an inconclusive comparison pass",
            "Exit with 0 when the primary comparison is inconclusive. Default: exit with 1.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/compare/1).";
    }

    /// `ceiling`.
    Ceiling {
        on: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder in which the drivers of storage are measured [default: this folder]",
            "Folder in which the drivers of storage are measured with one operation outstanding. They read a file of \
             1 MiB without a name, which leaves nothing behind. Default: the current folder, where that is possible.";
        model: bool = arg(long) "Time models too",
            "Time models too: how long a closed form takes, and how many I/Os a second each depth of \
             simulation carries on one core. Takes some ten seconds.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/ceiling/1).";
    }

    /// `emulate`.
    Emulate {
        model: Option<String> = arg(value_name = "MODEL", value_hint = ValueHint::FilePath, required_unless_present_any = ["fault", "heat", "measure_way"],
            conflicts_with_all = ["fault", "heat"])
            "Name of a shipped model of storage, or path of a model file; `nothing` adds nothing; `tiered` with --fast and --slow",
            "Name of a model of storage that ships (f5100, nand-device, disk-15k, tiered, disk-array, flash-array-2d, this-machine), or the \
             path of a model file; `,PARAMETER=NUMBER` behind it changes a number. \
             `nothing` is a device that adds nothing to the folder, for measuring the mount itself. `tiered` with --fast and --slow \
             is two folders under one mount, between which extents of 1 MiB move as their heat says.";
        backing: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["fault", "heat", "slow"])
            "Folder that holds the files", "Folder that holds the files. It is not to be used otherwise meanwhile.";
        at: PathBuf = arg(long, value_name = "MNT", value_hint = ValueHint::DirPath) "Folder at which the device is seen",
            "Empty folder at which the device is seen.";
        modules: u16 = arg(long, value_name = "N", default_value = "1") "Modules of the model that take part",
            "Modules of the model that take part: disks of an array, for example. Extents of 1 MiB go round them.";
        memory: String = arg(long, value_name = "SIZE", default_value = "16MiB") "Memory of the device that a lost power empties",
            "Size of the device's memory: so much of what was written last is lost with the power when no flush came behind it.";
        no_page_cache: bool = arg(long) "The kernel keeps no pages of the files", "The kernel keeps no pages of the files: every read and write \
             of a program reaches the device, as where data is many times the memory.";
        with_parent: Option<i32> = arg(long, hide = true) "End with the process of this number, which started this one";
        measure_way: bool = arg(long, hide = true, conflicts_with_all = ["model", "backing", "fault", "heat"])
            "Measure the way through the mount at --at, for the process that serves it";
        fault: Option<String> = arg(long, value_name = "FAULT") "Do this to a device that is mounted",
            "Do this to the device that is mounted at --at: power-loss, power-on, lie, full, read-error=OFFSET, slow=TIMES, hang or \
             none; of the model of an array also `fail controller 1`, `restore path 0`, `spare`, `firmware=2s` and such.";
        fast: Option<String> = arg(long, value_name = "DIR|MODEL:DIR", requires = "slow", conflicts_with_all = ["fault", "heat"])
            "Folder of the fast tier, and its model",
            "Folder of the fast tier, and the model whose times it takes. It belongs to one slow folder.";
        slow: Option<String> = arg(long, value_name = "DIR|MODEL:DIR", requires = "fast")
            "Folder of the slow tier, and its model",
            "Folder of the slow tier, which has the names and sizes of all files, and the model whose times it takes.";
        room: String = arg(long, value_name = "SIZE", default_value = "1GiB", conflicts_with_all = ["backing", "fault", "heat"]) "Size of the fast tier", "Size of the fast tier.";
        rule: Vec<String> = arg(long, value_name = "RULE", conflicts_with_all = ["backing", "fault", "heat"]) "Where files begin, and what stays where it is; the first that fits",
            "`fast:`, `slow:`, `keep-fast:` or `keep-slow:` and conditions with `,` between: name=GLOB, class=log, class=temp or \
             class=index, size<=SIZE, size>=SIZE, age<=TIME, age>=TIME. May be given several times; the first that fits decides.";
        every: String = arg(long, value_name = "TIME", default_value = "5s", conflicts_with_all = ["backing", "fault", "heat"]) "How often the mover looks", "How often the mover looks.";
        budget: String = arg(long, value_name = "SIZE", default_value = "32MiB", conflicts_with_all = ["backing", "fault", "heat"]) "What may be moved in a second; 0B moves nothing",
            "Bytes that may be moved in a second; 0B moves nothing.";
        half_life: String = arg(long, value_name = "TIME", default_value = "1min", conflicts_with_all = ["backing", "fault", "heat"]) "After so long an operation counts a half",
            "After so long an operation counts a half, and so on: a shorter time follows the heat sooner.";
        hysteresis: f64 = arg(long, value_name = "TIMES", default_value = "1.5", conflicts_with_all = ["backing", "fault", "heat"]) "How much hotter an extent is than the one it displaces",
            "An extent takes the place of another when it is so many times as hot.";
        trace: Option<PathBuf> = arg(long, conflicts_with_all = ["backing", "fault", "heat"], value_name = "FILE", value_hint = ValueHint::FilePath) "Add a line for each move to this file",
            "Add a line for each move to FILE: seconds, file, extent, tier, its heat, and that of the extent it was held against.";
        heat: bool = arg(long) "Print what the tiers at --at saw: heat by file", "Print the heat that the tiers at --at saw, by file.";
        json: bool = arg(long, requires = "heat") "Print as JSON", "Print as JSON (schema prony/emulate-heat/1).";
    }

    /// `link`.
    Link {
        listen: Option<String> = arg(long, value_name = "ADDRESS", requires = "to") "Where it listens: HOST:PORT, or the path of a socket",
            "Where it listens: HOST:PORT, or the path of a socket. Port 0 takes a free one, and says which.";
        to: Option<String> = arg(long, value_name = "ADDRESS", requires = "listen") "Whom it connects to", "Whom it connects to.";
        path: Vec<String> = arg(long, value_name = "WORDS", requires = "listen") "How long, wide and crowded a path is; the first is preferred",
            "How long, wide and crowded a path is: delay=TIME or km=N, jitter=TIME, capacity=RATE, aggressor=RATE, share=SHARE, tls=on. May be \
             given several times: the first path that carries is taken, and what a cut one had on its way goes over another.";
        balance: bool = arg(long, requires = "listen") "New connections take the path with the fewest",
            "New connections take the path with the fewest, instead of the first that carries.";
        failover: String = arg(long, value_name = "TIME", default_value = "200ms") "How long a sender waits for a cut path",
            "How long a sender waits before it sends over another path what a cut one lost.";
        orders: Option<PathBuf> = arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath) "Take orders at this socket; with --order, give one",
            "Take orders at this socket. With --order, give one to the relay that takes orders there.";
        order: Option<String> = arg(long, value_name = "ORDER", requires = "orders", conflicts_with = "listen") "Tell a relay: cut, heal, tell ..",
            "Tell a relay that runs: cut, half-open or heal, of all paths or with the number of one; `shape N WORDS`; reset, which ends \
             all connections; end, which ends the relay; tell, which changes nothing. The answer is its paths and what it carried.";
        user: Option<u32> = arg(long, hide = true) "The user, by number, who may connect";
        cost: bool = arg(long, conflicts_with_all = ["listen", "order"]) "Measure what a relay itself costs here",
            "Measure what a relay without delay adds to a round trip here, what it carries a second, and how exact a delay of 100 us is.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/link/1).";
    }

    /// `calibrate`.
    Calibrate {
        model: String = arg(value_name = "MODEL", value_hint = ValueHint::FilePath)
            "Name of a shipped model, or path of a model file",
            "Name of a model that ships, or the path of a model file: a word with a slash or ending in .toml is a path. \
             `,PARAMETER=NUMBER` behind it changes a number for this question.";
        rows: Vec<String> = arg(value_name = "ROWS", value_hint = ValueHint::FilePath) "Tables of rows",
            "Tables of rows: CSV files with a head, or runs (a run file, or `latest`), whose points become rows. Columns \
             that the model answers are met, all others left alone. May be left out with --profile.";
        profile: Option<String> = arg(long, value_name = "RUN", value_hint = ValueHint::FilePath)
            "Take what transactions ask for from this run",
            "Take what a transaction asks for (processor time, reads, writes) from a measured run of transactions, for a \
             server's model: a run file, an id or its beginning, or `latest`. What the run did not observe stays as it is. With \
             ROWS it is taken first, and the rows move what is left.";
        trial: Option<u32> = arg(long, value_name = "N", requires = "profile") "Which trial of that run",
            "Take the profile from trial N. Default: the trial of a closed load with the fewest sessions, where the least \
             waits for anything.";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the calibrated model to this new file",
            "Write the calibrated model to FILE. Default: nothing is written. An existing file is never overwritten.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/calibrate/1).";
    }

    /// `predict`.
    Predict {
        study: String = arg(value_name = "STUDY", value_hint = ValueHint::FilePath)
            "Name of a shipped study, path of a study file, or a table of rows",
            "Name of a shipped study (see `prony studies`), the path of a study file, or the path of a table of rows that \
             ends in .csv.";
        changes: Changes = command(flatten);
        find: Option<String> = arg(long, value_name = "KEY", requires = "need") "Find how many of this it takes",
            "Find the fewest of KEY at which every --need is met: what the study varies (`modules`, `sessions`, \
             `outstanding`) or a parameter of the model (`cores`, `disks`).";
        need: Vec<String> = arg(long, value_name = "QUANTITY>=N", action = ArgAction::Append, requires = "find")
            "What is needed, with --find [repeatable]",
            "What is needed of a quantity that the model answers, in its unit: `rate>=1M`, `response<=5`. Repeat it for \
             several. `p50`, `p95`, `p99` and `p99.9` are quantiles of response in ms, \
             and `postings`, `accounts balanced`, `dialog steps` and `rows loaded` are by the hour; these are simulated: \
             `p99<=10`, `postings>=10M`.";
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the prediction to this new file",
            "Write the prediction to FILE, as JSON. Default: nothing is written. An existing file is never overwritten.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/predict/1).";
    }

    /// `judge`.
    Judge {
        model: String = arg(value_name = "MODEL", value_hint = ValueHint::FilePath)
            "Name of a shipped model, or path of a model file",
            "Name of a model that ships, or the path of a model file: a word with a slash or ending in .toml is a path. \
             `,PARAMETER=NUMBER` behind it changes a number for this question.";
        rows: Vec<String> = arg(value_name = "ROWS", required = true, value_hint = ValueHint::FilePath)
            "Tables of rows",
            "Tables of rows: CSV files with a head, or runs (a run file, or `latest`), whose points become rows. A table \
             with the columns of one that the model answers is judged, whether the model has ever seen it or not.";
        json: bool = arg(long) "Print as JSON", "Print as JSON (schema prony/judge/1).";
        html: Option<PathBuf> = arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Also draw rows and predictions on a page",
            "Also draws rows and predictions on one self-contained HTML page, a new file. What is published, measured and \
             predicted looks different, and says which it is.";
    }

    /// `tag`.
    Tag {
        choice: RunChoice = command(flatten);
        tags: Vec<String> = arg(value_name = "TAG", required = true) "Tags to add",
            "Tags to add, or with --remove those to take away.";
        remove: bool = arg(long) "Take the tags away instead", "Take the tags away instead of adding them.";
    }

    /// `note`.
    Note {
        choice: RunChoice = command(flatten);
        text: String = arg(value_name = "TEXT") "The remark; empty removes it",
            "The remark. An empty one removes what is there.";
    }

    /// `redact`.
    Redact {
        choice: RunChoice = command(flatten);
        output: Option<PathBuf> = arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)
            "Write the copy to FILE [default: ID-redacted.prony]",
            "Write the copy to FILE. Default: `ID-redacted.prony` beside the run. An existing file is never \
             overwritten.";
    }

    /// `clean`.
    Clean {
        dir: Option<PathBuf> = arg(value_name = "DIR", value_hint = ValueHint::DirPath)
            "Folder to look in [default: this folder]",
            "Folder to look in; the one that was given to `--on`. Default: the current folder.";
        dry_run: bool = arg(long) "Only name what would be removed",
            "Only name what would be removed, with its size; remove nothing.";
    }

    /// `completions`.
    Completions {
        shell: clap_complete::Shell = arg(value_name = "SHELL") "The shell",
            "The shell for which to print completions.";
    }

    /// `man`.
    Man {
        dir: Option<PathBuf> = arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)
            "Write one page a command into DIR",
            "Write one page a command into DIR, which is made when missing. Default: the main page on stdout.";
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
