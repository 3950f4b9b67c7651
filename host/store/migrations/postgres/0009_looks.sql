-- A look for jobs costs what it finds, however many jobs wait for their time, wait to be claimed, or are over:
-- PENDING and RUNNING ones are claimable, RUNNING ones have holders that may be gone, and WAITING ones are found by
-- the time that makes them PENDING. What is dropped is dropped last: from there on nobody reads the table.

CREATE INDEX jobs_running ON jobs (id) WHERE state = 2;
CREATE INDEX jobs_waking ON jobs (wake_at_us) WHERE state = 3;
CREATE INDEX jobs_claimable_now ON jobs (priority DESC, id) WHERE state <= 2;
DROP INDEX jobs_claimable;
ALTER INDEX jobs_claimable_now RENAME TO jobs_claimable;
