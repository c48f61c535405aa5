-- The names of the token and of its member when the entry was written; entries of before have none.
alter table audit_entries add column token_name text, add column member_name text;
