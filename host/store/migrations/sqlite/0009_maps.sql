-- A key-value map belongs to one tenant, or to all tenants: then its tenant is empty. `kv_maps` counts the bytes of each
-- map: keys, values, and 64 for each entry.
--
-- Entries from before go to the tenant of the jobs, if all jobs have the same one. Otherwise they are in the maps of all
-- tenants.

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

INSERT INTO kv_entries (tenant, namespace, key, value)
SELECT (SELECT CASE COUNT(DISTINCT tenant_id) WHEN 1 THEN MIN(tenant_id) ELSE '' END FROM jobs), namespace, key, value
FROM kv;

INSERT INTO kv_maps (tenant, namespace, bytes)
SELECT tenant, namespace, SUM(length(CAST(key AS BLOB)) + length(value) + 64) FROM kv_entries
GROUP BY tenant, namespace;

DROP TABLE kv;
