-- The table of schema version 3. A file without it is read as one that has nothing in it.

CREATE TABLE yield (
    trial INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    name TEXT NOT NULL,
    class INTEGER NOT NULL,
    amount REAL NOT NULL,
    PRIMARY KEY (trial, stream, name, class)
) STRICT, WITHOUT ROWID;
