-- Versions are read by find-object.ts, several at once.
drop function if exists storage_read(int, text, text);
