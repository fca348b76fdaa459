-- The run file, schema version 1. A changed letter here is a new version: files are checked against this text.

CREATE TABLE about (
    item TEXT NOT NULL,
    explanation TEXT NOT NULL
) STRICT;

CREATE TABLE run (
    id TEXT NOT NULL,
    study TEXT NOT NULL,
    title TEXT NOT NULL,
    question TEXT NOT NULL,
    started_unix_ns INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    prony_version TEXT NOT NULL,
    prony_commit TEXT NOT NULL,
    study_text TEXT NOT NULL,
    note TEXT NOT NULL,
    finished INTEGER NOT NULL
) STRICT;

CREATE TABLE run_word (
    list TEXT NOT NULL,
    position INTEGER NOT NULL,
    word TEXT NOT NULL
) STRICT;

CREATE TABLE ceiling (
    null_operation_ns REAL,
    clock_read_ns REAL,
    lateness_p99_ns REAL,
    open_rate_error_pct REAL
) STRICT;

CREATE TABLE system (
    position INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    place TEXT NOT NULL,
    modules INTEGER NOT NULL,
    driver TEXT NOT NULL,
    drives REAL,
    watts REAL,
    rack_units REAL,
    price REAL
) STRICT;

CREATE TABLE system_fact (
    system INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    private INTEGER NOT NULL
) STRICT;

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL,
    experiment TEXT NOT NULL,
    system TEXT NOT NULL,
    replicate INTEGER NOT NULL,
    block INTEGER NOT NULL,
    state_policy TEXT NOT NULL,
    search TEXT,
    provenance TEXT NOT NULL,
    started_unix_ns INTEGER NOT NULL,
    window_start_ns INTEGER NOT NULL,
    window_end_ns INTEGER NOT NULL,
    interval_ns INTEGER NOT NULL,
    generators INTEGER NOT NULL,
    generator_cpu_user_s REAL,
    generator_cpu_system_s REAL,
    elapsed_s REAL,
    validated_reads INTEGER NOT NULL,
    UNIQUE (number, attempt)
) STRICT;

CREATE TABLE factor (
    trial INTEGER NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    form TEXT NOT NULL,
    value REAL,
    text TEXT NOT NULL,
    PRIMARY KEY (trial, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE stream (
    trial INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    name TEXT NOT NULL,
    workload TEXT NOT NULL,
    load TEXT NOT NULL,
    slots INTEGER,
    think_mean_ns INTEGER NOT NULL,
    offered_per_s REAL,
    PRIMARY KEY (trial, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE class (
    trial INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    class INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (trial, stream, class)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint (
    trial INTEGER NOT NULL,
    endpoint INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (trial, endpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
    trial INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    done INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    censored INTEGER NOT NULL,
    service_ns TEXT NOT NULL,
    lateness_ns TEXT NOT NULL,
    think_ns TEXT NOT NULL,
    slots_ns TEXT NOT NULL,
    PRIMARY KEY (trial, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE cell (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    interval INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    class INTEGER NOT NULL,
    endpoint INTEGER NOT NULL,
    generator INTEGER NOT NULL,
    done INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    retried INTEGER NOT NULL,
    rolled_back INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    response_mean_ms REAL,
    response_p99_ms REAL,
    response_max_ms REAL,
    response BLOB NOT NULL,
    service BLOB NOT NULL,
    lateness BLOB NOT NULL,
    censored BLOB NOT NULL
) STRICT;

CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    probe TEXT NOT NULL,
    unit TEXT NOT NULL,
    UNIQUE (trial, probe, unit)
) STRICT;

CREATE TABLE reading (
    id INTEGER PRIMARY KEY,
    series INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    value REAL
) STRICT;

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE reserve (
    filler BLOB NOT NULL
) STRICT;

CREATE VIEW trial_summary AS
SELECT
    trial.number AS trial,
    trial.attempt AS attempt,
    trial.state AS state,
    trial.experiment AS experiment,
    trial.system AS system,
    (SELECT group_concat(factor.name || '=' || factor.text, ', ') FROM factor WHERE factor.trial = trial.id) AS factors,
    stream.name AS stream,
    stream.load AS load,
    trial.provenance AS provenance,
    datetime(trial.started_unix_ns / 1000000000, 'unixepoch') AS started_utc,
    (trial.window_end_ns - trial.window_start_ns) / 1e9 AS window_s,
    sum(cell.done) AS done,
    sum(cell.failed) AS failed,
    sum(cell.done) / ((trial.window_end_ns - trial.window_start_ns) / 1e9) AS throughput_per_s,
    sum(cell.bytes) / 1e6 / ((trial.window_end_ns - trial.window_start_ns) / 1e9) AS megabytes_per_s,
    max(cell.response_max_ms) AS response_max_ms
FROM trial
JOIN stream ON stream.trial = trial.id
LEFT JOIN cell ON cell.trial = trial.id AND cell.stream = stream.stream
    AND cell.interval * trial.interval_ns >= trial.window_start_ns
    AND cell.interval * trial.interval_ns < trial.window_end_ns
    AND EXISTS (
        SELECT 1 FROM class
        WHERE class.trial = cell.trial AND class.stream = cell.stream AND class.class = cell.class AND class.kind = 'work'
    )
GROUP BY trial.id, stream.stream;

CREATE VIEW interval_summary AS
SELECT
    trial.number AS trial,
    trial.attempt AS attempt,
    trial.system AS system,
    stream.name AS stream,
    class.name AS class,
    cell.interval * trial.interval_ns / 1e9 AS at_s,
    sum(cell.done) / (trial.interval_ns / 1e9) AS throughput_per_s,
    sum(cell.bytes) / 1e6 / (trial.interval_ns / 1e9) AS megabytes_per_s,
    max(cell.response_p99_ms) AS response_p99_ms_worst_cell,
    max(cell.response_max_ms) AS response_max_ms
FROM cell
JOIN trial ON trial.id = cell.trial
JOIN stream ON stream.trial = cell.trial AND stream.stream = cell.stream
JOIN class ON class.trial = cell.trial AND class.stream = cell.stream AND class.class = cell.class
GROUP BY cell.trial, cell.stream, cell.class, cell.interval;

CREATE VIEW probe_summary AS
SELECT
    trial.number AS trial,
    trial.attempt AS attempt,
    series.probe AS probe,
    series.unit AS unit,
    count(*) AS readings,
    min(reading.value) AS value_min,
    avg(reading.value) AS value_mean,
    max(reading.value) AS value_max
FROM reading
JOIN series ON series.id = reading.series
JOIN trial ON trial.id = series.trial
GROUP BY series.id;

INSERT INTO about (item, explanation) VALUES
('this file', 'One run of Prony: what was asked, of which systems, and everything that was recorded. Read it with any SQLite tool; `prony show FILE` and `prony report FILE` say what it means.'),
('start here', 'SELECT * FROM trial_summary; one line a trial and stream. Then interval_summary for the course of a trial, and probe_summary for CPU, disks and pressure.'),
('times', 'A column ending in _unix_ns counts nanoseconds since 1970 in UTC. A column ending in _ns counts from the start of the clock of its trial, or is a length of time. _s and _ms are seconds and milliseconds.'),
('ids', 'The id of a cell, reading or event is the id of its trial times 4294967296, plus its place in the order in which it was written.'),
('sizes', 'A column named bytes counts bytes. Megabytes are 1000000 bytes.'),
('run', 'One row: the study as it was run, the seed from which every choice follows, and the version of Prony.'),
('run_word', 'Lists of the run: target (--on), setting (--set), only (--only) and tag.'),
('ceiling', 'What the load generator could do on a system that answers at once, measured before the run.'),
('system and system_fact', 'The systems under test, and everything about them that could change a number. What was not observed has no row, or says so.'),
('trial', 'One row an attempt at a trial. number is its place in the plan; state is finished, interrupted, or running (interrupted too, when no Prony is at work on the file).'),
('factor, stream, class, endpoint', 'What varied, what ran at once, the kinds of operation of each stream, and the modules of the system. Other tables point here by number.'),
('account', 'The books of a stream in the measured window: done + failed + censored = planned. The long sums of nanoseconds are written as text because they can exceed 63 bits.'),
('cell', 'One interval of one stream, class, endpoint and generator. done, retried, rolled_back and bytes count completions in the interval, failed those that were due in it. The four histograms hold operations by the interval of their intended start: response (completed - intended), service (completed - issued), lateness (issued - intended), censored (age of what never completed).'),
('histogram blobs', 'Empty for no operation. Else numbers of 7 bits a byte, low bits first, high bit set when more follow: how many buckets, least ns, greatest ns, sum of ns, then for each bucket its distance from the one before, less one (the first: its index) and its count. Bucket i below 2048 holds the value i; above, with e = i / 1024 - 1, the values from (i - e * 1024) * 2^e on. The columns response_*_ms repeat a part of it for people.'),
('series and reading', 'What the probes saw: each value covers the time since the reading before it.'),
('event', 'What happened at a moment of a trial.'),
('checked', 'What checks of the data found, of every attempt at a trial: what should hold, whether it did, and what was found instead.'),
('mishap', 'Failed operations and damage, counted by kind.'),
('ledger_count and ledger_page', 'What the trial knows of acknowledged work, for `prony db check --ledger FILE`. The form of a page is that of the workload.'),
('checksum', 'CRC-32C of the rows of each table that belong to a trial (its id, written when it ends) or to the run (0, written when the file is closed): each value as its type, its length in bytes, and itself.'),
('reserve', 'Empty. While a run is on, space for all of it is held here, so that a full disk loses no finished interval.');
