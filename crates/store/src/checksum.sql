-- What schema version 2 adds to the run file.

CREATE TABLE checksum (
    trial INTEGER NOT NULL,
    part TEXT NOT NULL,
    crc32c INTEGER NOT NULL,
    PRIMARY KEY (trial, part)
) STRICT, WITHOUT ROWID;

INSERT INTO about (item, explanation) VALUES
('checksum', 'CRC-32C of the rows of each table that belong to a trial (its id, written when it ends) or to the run (0, written when the file is closed): each value as its type, its length in bytes, and itself.');
