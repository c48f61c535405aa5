-- Parts of the balances of accounts that are kept for what costs energy by itself. `grace` pays what runs for a minute after
-- the rest is used up, `retention` the stored bytes for some days. New work cannot have them.
create table reserves (
  wallet text collate "C" not null references wallets (id),
  kind text not null check (kind in ('grace', 'retention')),
  wanted numeric(38, 0) not null check (wanted >= 0),
  -- The part of it that is there: what the balance had when it was wanted, less what was drawn.
  amount numeric(38, 0) not null check (amount between 0 and wanted),
  primary key (wallet, kind)
);
-- The part of a reserve that each product wants.
create table reserve_parts (
  wallet text collate "C" not null references wallets (id),
  kind text not null,
  source text not null,
  pusd numeric(38, 0) not null check (pusd > 0),
  primary key (kind, source, wallet)
);
create index reserve_parts_by_wallet on reserve_parts (wallet, kind);
-- The sum of the wallet's reserves: a part of `reserved`, beside the leases.
alter table wallets add column kept numeric(38, 0) not null default 0 check (kept between 0 and reserved);
-- The reserve that the session may draw on: of the process that charges for it.
alter table sessions add column draws text;
-- Since when nothing but reserves is left. A credit ends that.
alter table accounts add column depleted_at timestamptz;
create index accounts_depleted on accounts (depleted_at) where depleted_at is not null;
drop function if exists open_session(text, int);
