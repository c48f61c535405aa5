-- The log of a restored database is replayed; its tables are checked since then.
alter table database_restores add column is_recovered boolean not null default false;
