-- Parts of logs that were never stored: bytes `from_lsn` to before `to_lsn`. No copy of the files has a part of them.
create table database_log_gaps (
  database text collate "C" not null references databases (id),
  from_lsn pg_lsn not null,
  to_lsn pg_lsn not null,
  -- All that the server had written by then is before `from_lsn`.
  stored_to timestamptz not null,
  primary key (database, from_lsn)
);
