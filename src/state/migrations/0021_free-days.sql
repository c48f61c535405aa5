-- Each account of the free tier has a wallet for each day that it used, for good: a check of the books reads
-- those of past days once a day, and goes by what they held then in between.
create index wallets_by_free_day on wallets (right(id, 10)) where id like 'free:%';
alter table books
  add column past_checked_at timestamptz,
  -- Days before this one, and the sum of what their wallets held.
  add column past_before text collate "C" not null default '',
  add column past_nj numeric(38, 0) not null default 0;

-- These have more parameters now.
drop function if exists open_session(text);
drop function if exists ledger_faults();
