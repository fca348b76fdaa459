-- The tables of schema version 2. A file without them is read as one that has nothing in them.

CREATE TABLE checked (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    kind TEXT NOT NULL,
    moment TEXT NOT NULL,
    name TEXT NOT NULL,
    says TEXT NOT NULL,
    result TEXT NOT NULL,
    found TEXT NOT NULL,
    took_s REAL
) STRICT;

CREATE TABLE mishap (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    kind TEXT NOT NULL,
    what TEXT NOT NULL,
    count INTEGER NOT NULL,
    first TEXT NOT NULL
) STRICT;

CREATE TABLE ledger_count (
    trial INTEGER NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (trial, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_page (
    trial INTEGER NOT NULL,
    page INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (trial, page)
) STRICT;

CREATE TABLE checksum (
    trial INTEGER NOT NULL,
    part TEXT NOT NULL,
    crc32c INTEGER NOT NULL,
    PRIMARY KEY (trial, part)
) STRICT, WITHOUT ROWID;
