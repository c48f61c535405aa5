-- storage_list() gives a page in one row; a function cannot change what it returns.
drop function if exists storage_list(int, text, text, text, int);
