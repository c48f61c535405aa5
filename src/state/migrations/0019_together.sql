-- Versions are found by find-object.ts and put by storage_put_all, several at once.
drop function if exists storage_read(int, text, text);
drop function if exists storage_put(int, text, jsonb, bytea);
