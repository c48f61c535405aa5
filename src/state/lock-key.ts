// States of one database lie in schemas of their own (DATABASE_URL with a search_path), and advisory locks are
// the database's: without this key the jobs of one state would wait for those of another, for ever.

/** The schema, as the second number of a lock: `pg_try_advisory_lock(<which lock>, ${SCHEMA_KEY})`. An oid has no sign. */
export const SCHEMA_KEY = "hashtext(coalesce(current_schema(), '')) & 2147483647"
