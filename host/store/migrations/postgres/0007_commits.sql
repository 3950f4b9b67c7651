-- What each writer committed last, as far as no row of a log tells: after a crash of the server the number
-- of a transaction that was lost is given to another one.

CREATE TABLE commits (
    writer     TEXT   PRIMARY KEY,
    number     BIGINT NOT NULL,
    written_us BIGINT NOT NULL
) WITH (fillfactor = 50);
