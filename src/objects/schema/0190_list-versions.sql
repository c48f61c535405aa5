-- Its rows have one text of all that a page needs of a version.
drop function if exists storage_list_versions(int, text, text, text, bigint, int);
