-- Jobs that are over, and of which something was said since: found without reading all that ever ran.

CREATE INDEX jobs_to_audit ON jobs (id) WHERE inbox_pending = 1 AND state > 5;
