-- How far work has gone, so that a backup that is put back is noticed: `high_water` counts the transactions
-- that somebody relies on, `accepted` how often a person accepted the database as restored.

ALTER TABLE meta ADD COLUMN accepted   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN high_water INTEGER NOT NULL DEFAULT 0;
