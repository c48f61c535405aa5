-- Deletions say how many rows they removed: a request that removes many is billed for them.
drop function if exists storage_abort(int, text, text);
drop function if exists storage_delete_bucket(int);
drop function if exists storage_delete(int, jsonb, boolean);
