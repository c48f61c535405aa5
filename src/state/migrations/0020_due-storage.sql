-- What is due of a bucket and not charged yet, as it is not worth a charge: in zeptojoules (10⁻²¹ J), so that
-- bytes × milliwatts × milliseconds × overhead are whole; and from when to when that was stored.
alter table storage_samples
  add column due_zj numeric not null default 0,
  add column due_from_ms bigint,
  add column due_to_ms bigint,
  -- Of a bucket that is deleted while something is due of it.
  add column name text collate "C",
  add column account text collate "C";
create index storage_samples_deleted on storage_samples (bucket) where account is not null;

-- It is told the power, and answers energy.
drop function if exists storage_look(bigint, int, int);
