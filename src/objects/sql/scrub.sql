-- Rows by the blocks of their table: a block that cannot be read hides no other, as it would in the order of an index.

-- The rows of a query between two places of its table ($1 and $2: `ctid >= $1 and ctid < $2`), in the order of the table.
-- A scan of the whole table, which the planner takes for a small one, would meet the blocks outside.
create or replace function storage_rows_between(query text, low tid, high tid) returns setof json language plpgsql
set enable_seqscan = off as $$
begin
  return query execute query using low, high;
end $$;
