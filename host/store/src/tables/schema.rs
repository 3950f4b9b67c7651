//! Schema as stored in a database, for the golden files in `host/store/schema`.

use crate::sql::dialect::Dialect;
use crate::sql::statement_batch::StatementBatch;

const SQLITE: &str = "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name \
    NOT LIKE '_sqlx_%' ORDER BY tbl_name, type DESC, name";

/// Columns, constraints, indexes, triggers and functions, table by table.
const POSTGRES: [&str; 5] = [
    "SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation = \
     (SELECT oid FROM pg_collation WHERE collname = 'C') THEN ' COLLATE \"C\"' ELSE '' END || CASE WHEN a.attnotnull \
     THEN ' NOT NULL' ELSE '' END || CASE a.attidentity WHEN 'd' THEN ' IDENTITY' ELSE '' END FROM pg_attribute a JOIN \
     pg_class c ON c.oid = a.attrelid WHERE c.relkind IN ('r', 'S') AND c.relnamespace = current_schema()::regnamespace \
     AND c.relname NOT LIKE '\\_sqlx%' AND a.attnum > 0 ORDER BY c.relname COLLATE \"C\", a.attnum",
    "SELECT c.conrelid::regclass || ': ' || pg_get_constraintdef(c.oid) FROM pg_constraint c WHERE c.contype IN ('p', 'u', 'c') AND c.connamespace = \
     current_schema()::regnamespace AND c.conrelid::regclass::text NOT LIKE '\\_sqlx%' ORDER BY 1",
    "SELECT regexp_replace(indexdef, ' ON [a-z_]+\\.', ' ON ') FROM pg_indexes WHERE schemaname = current_schema() AND \
     tablename NOT LIKE '\\_sqlx%' ORDER BY indexname COLLATE \"C\"",
    "SELECT regexp_replace(pg_get_triggerdef(t.oid), ' ON [a-z_]+\\.', ' ON ') FROM pg_trigger t JOIN pg_class c ON c.oid \
     = t.tgrelid WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal ORDER BY t.tgname",
    "SELECT p.proname || ': ' || p.prosrc FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace ORDER BY \
     p.proname",
];

/// Builds the queries that return the schema line by line.
pub(crate) fn read(dialect: Dialect) -> StatementBatch {
    let mut statements = StatementBatch::default();
    match dialect {
        Dialect::Sqlite => {
            statements.push(SQLITE);
        }
        Dialect::Postgres => {
            for sql in POSTGRES {
                statements.push(sql);
            }
        }
    }
    statements
}
