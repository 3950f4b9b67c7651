-- Jobs of a higher priority are claimed first; how many wait is counted by tenant.

ALTER TABLE jobs ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;

DROP INDEX jobs_claimable;
CREATE INDEX jobs_claimable ON jobs (priority DESC, id) WHERE state <= 3;
CREATE INDEX jobs_pending ON jobs (tenant_id) WHERE state = 1;
