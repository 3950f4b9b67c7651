-- Results that later jobs may reuse: the newest of each operator and input. Where the output is,
-- job and step say; result_type is numbered in reusables.rs.
CREATE TABLE reusables (
    tenant_id    TEXT    NOT NULL,
    operator     TEXT    NOT NULL,
    input_hash   BLOB    NOT NULL,
    job          INTEGER NOT NULL,
    step         TEXT    NOT NULL,
    outcome_type TEXT,
    sensitivity  TEXT,
    digest       BLOB    NOT NULL,
    version      TEXT    NOT NULL,
    policy       BLOB    NOT NULL,
    result_type  INTEGER NOT NULL,
    verified     INTEGER NOT NULL,
    by_person    INTEGER NOT NULL,
    output_hash  BLOB    NOT NULL,
    time_us      INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, operator, input_hash)
) STRICT, WITHOUT ROWID;
