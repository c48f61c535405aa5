// The service's own statement after a query: the names of the types of its columns. The role of the query runs the
// statement, so the list of statements knows the statement by this text.
export const COLUMN_TYPES = `select pg_catalog.format_type(id, modifier) as type
     from rows from (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) with ordinality as asked (id, modifier, place) order by place`
