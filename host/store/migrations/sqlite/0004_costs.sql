-- What calls cost, summed per job, per actor and day, per tenant and month (UTC), each by model.
-- A row is added to in the transaction that records the answer; calls without usage touch none.

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
