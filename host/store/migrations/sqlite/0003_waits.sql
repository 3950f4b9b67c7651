-- What jobs await from others (signals, decisions on gates): a request is refused in the
-- transaction that would accept it. State: 1 pending, 2 open, 3 done, 4 over.
CREATE TABLE awaited (
    job      INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    key      TEXT,
    state    INTEGER NOT NULL,
    until_us INTEGER,
    PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;

-- Durable timers: gone in the transaction that puts them into their job's inbox.
CREATE TABLE timers (
    job    INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    due_us INTEGER NOT NULL,
    PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_due ON timers (due_us);
