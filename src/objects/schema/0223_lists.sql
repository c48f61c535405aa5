-- A row of a page is a key, or a common prefix in its place: not both.
drop function if exists storage_list_objects(int, text, text, text, int);
drop function if exists storage_list_versions(int, text, text, text, bigint, int);
drop function if exists storage_list_uploads(int, text, text, text, text, int);
