-- A backup that is put back is noticed. `accepted`: how often a person accepted the database as restored.
-- `written`: the number of the transaction that wrote the row, as the server gives it to the row itself
-- (`xmin`, its lower half). Whoever loads a dump writes the row in another one.

ALTER TABLE meta ADD COLUMN accepted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN written  BIGINT NOT NULL DEFAULT 0;
UPDATE meta SET written = CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT);
