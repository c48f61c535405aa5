-- A backup that failed because its account, or the energy budget of the database, could not pay for it.
alter table database_backups add column is_unpaid boolean not null default false;
