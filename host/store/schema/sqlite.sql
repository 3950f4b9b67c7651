CREATE TABLE action_waits (
    tenant_id TEXT    NOT NULL,
    operator  TEXT    NOT NULL,
    key       BLOB    NOT NULL,
    job       INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, operator, key, job)
) STRICT, WITHOUT ROWID;
CREATE TABLE actions (
    tenant_id TEXT    NOT NULL,
    operator  TEXT    NOT NULL,
    key       BLOB    NOT NULL,
    job       INTEGER NOT NULL,
    slot      TEXT    NOT NULL,
    args_hash BLOB    NOT NULL,
    receipt   BLOB,
    PRIMARY KEY (tenant_id, operator, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE actor_day_costs (
    day              TEXT    NOT NULL,
    tenant_id        TEXT    NOT NULL,
    actor_id         TEXT    NOT NULL,
    model            TEXT    NOT NULL,
    calls            INTEGER NOT NULL,
    nondeterministic INTEGER NOT NULL,
    tokens_in        INTEGER NOT NULL,
    tokens_out       INTEGER NOT NULL,
    cost_micro_usd   INTEGER NOT NULL,
    credits          INTEGER NOT NULL,
    cache_hits       INTEGER NOT NULL,
    cache_misses     INTEGER NOT NULL,
    fuel             INTEGER NOT NULL,
    wall_ms          INTEGER NOT NULL,
    PRIMARY KEY (day, tenant_id, actor_id, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE awaited (
    job      INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    key      TEXT,
    state    INTEGER NOT NULL,
    until_us INTEGER,
    PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE claims (
    job        INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    owner      INTEGER NOT NULL,
    claimed_us INTEGER NOT NULL,
    PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE effects (
    job   INTEGER NOT NULL,
    slot  TEXT    NOT NULL,
    try   INTEGER NOT NULL,
    bytes BLOB    NOT NULL,
    PRIMARY KEY (job, slot, try)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
    id    INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    head  BLOB    NOT NULL,
    bytes TEXT    NOT NULL
) STRICT;
CREATE TABLE foreign_jobs (
    id     INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE inbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    job        INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    reason     TEXT,
    request    TEXT    NOT NULL,
    done       INTEGER NOT NULL,
    created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_undone ON inbox (job) WHERE done = 0;
CREATE TABLE job_costs (
    job              INTEGER NOT NULL,
    model            TEXT    NOT NULL,
    calls            INTEGER NOT NULL,
    nondeterministic INTEGER NOT NULL,
    tokens_in        INTEGER NOT NULL,
    tokens_out       INTEGER NOT NULL,
    cost_micro_usd   INTEGER NOT NULL,
    credits          INTEGER NOT NULL,
    cache_hits       INTEGER NOT NULL,
    cache_misses     INTEGER NOT NULL,
    fuel             INTEGER NOT NULL,
    wall_ms          INTEGER NOT NULL,
    PRIMARY KEY (job, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE jobs (
    id               INTEGER PRIMARY KEY,
    job_id           TEXT    NOT NULL UNIQUE,
    tenant_id        TEXT    NOT NULL,
    actor_id         TEXT    NOT NULL,
    request_key      BLOB    NOT NULL UNIQUE,
    plan_id          TEXT    NOT NULL,
    plan_hash        BLOB    NOT NULL,
    mode             TEXT    NOT NULL,
    secret           BLOB    NOT NULL,
    created_us       INTEGER NOT NULL,
    state            INTEGER NOT NULL,
    attempt          INTEGER NOT NULL,
    next_seq         INTEGER NOT NULL,
    head             BLOB    NOT NULL,
    inbox_pending    INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    wake_at_us       INTEGER,
    lease_until_us   INTEGER,
    updated_us       INTEGER NOT NULL
, priority INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX jobs_claimable ON jobs (priority DESC, id) WHERE state <= 2;
CREATE INDEX jobs_pending ON jobs (tenant_id) WHERE state = 1;
CREATE INDEX jobs_running ON jobs (id) WHERE state = 2;
CREATE INDEX jobs_to_audit ON jobs (id) WHERE inbox_pending = 1 AND state > 5;
CREATE INDEX jobs_waking ON jobs (wake_at_us) WHERE state = 3;
CREATE TABLE kv_entries (
    tenant    TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key       TEXT NOT NULL,
    value     BLOB NOT NULL,
    PRIMARY KEY (tenant, namespace, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE kv_maps (
    tenant    TEXT    NOT NULL,
    namespace TEXT    NOT NULL,
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (tenant, namespace)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger (
    job              INTEGER NOT NULL,
    slot             TEXT    NOT NULL,
    operator         TEXT    NOT NULL,
    args_hash        BLOB    NOT NULL,
    state            INTEGER NOT NULL,
    attempt          INTEGER NOT NULL,
    nonce            INTEGER NOT NULL,
    try              INTEGER NOT NULL,
    first_attempt    INTEGER NOT NULL,
    first_started_us INTEGER NOT NULL,
    world_changing   INTEGER NOT NULL,
    timeout_ms       INTEGER NOT NULL,
    deadline_us      INTEGER NOT NULL,
    next_try_us      INTEGER,
    result_hash      BLOB,
    action_key       BLOB,
    PRIMARY KEY (job, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    database_id TEXT    NOT NULL,
    generation  INTEGER NOT NULL
, accepted   INTEGER NOT NULL DEFAULT 0, high_water INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE owners (
    id           INTEGER PRIMARY KEY,
    worker       TEXT    NOT NULL,
    boot_id      TEXT    NOT NULL,
    lock_path    TEXT    NOT NULL,
    lock_dev     INTEGER NOT NULL,
    lock_ino     INTEGER NOT NULL,
    lock_content TEXT    NOT NULL,
    UNIQUE (lock_content, boot_id, lock_dev, lock_ino, lock_path, worker)
) STRICT;
CREATE TABLE payloads (
    job   INTEGER NOT NULL,
    label TEXT    NOT NULL,
    bytes BLOB    NOT NULL,
    PRIMARY KEY (job, label)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE tenant_month_costs (
    month            TEXT    NOT NULL,
    tenant_id        TEXT    NOT NULL,
    model            TEXT    NOT NULL,
    calls            INTEGER NOT NULL,
    nondeterministic INTEGER NOT NULL,
    tokens_in        INTEGER NOT NULL,
    tokens_out       INTEGER NOT NULL,
    cost_micro_usd   INTEGER NOT NULL,
    credits          INTEGER NOT NULL,
    cache_hits       INTEGER NOT NULL,
    cache_misses     INTEGER NOT NULL,
    fuel             INTEGER NOT NULL,
    wall_ms          INTEGER NOT NULL,
    PRIMARY KEY (month, tenant_id, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE timers (
    job    INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    due_us INTEGER NOT NULL,
    PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_due ON timers (due_us);
