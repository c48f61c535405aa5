-- Old charges, packed: about 50 bytes each in place of 1.4 kB (src/ledger/packs). A charge is a row of `charges` or in
-- one pack, never both. A pack never changes and never goes, so what was read of the packs up to a number stays true.

create table charge_packs (
  account text collate "C" not null,
  first_seq bigint not null,
  last_seq bigint not null check (last_seq >= first_seq),
  -- The leaves of an account grow with its numbers; those of other accounts lie between.
  first_leaf bigint not null,
  last_leaf bigint not null,
  -- Of the charges' ends, which need not be in order.
  first_at timestamptz not null,
  last_at timestamptz not null,
  first_id text collate "C" not null,
  last_id text collate "C" not null,
  -- The different ones of the charges: a search passes over packs without its own.
  operations text[] not null,
  tokens text[] not null,
  resources text[] not null,
  energy_nj numeric(38, 0) not null,
  carbon_pg numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null,
  body bytea not null,
  primary key (account, first_seq)
);
-- The columns of a body are compressed already.
alter table charge_packs alter column body set storage external;
create index charge_packs_by_time on charge_packs (account, last_at, first_at);
create index charge_packs_by_id on charge_packs (account, last_id, first_id);
create index charge_packs_by_leaf on charge_packs (last_leaf, first_leaf);

-- The sums of the packs of each account: its charges up to the number `charges` are packed.
create table packed_accounts (
  account text collate "C" primary key references accounts (id),
  charges bigint not null default 0,
  energy_nj numeric(38, 0) not null default 0,
  charge_pusd numeric(38, 0) not null default 0,
  packs bigint not null default 0,
  bytes bigint not null default 0
);

-- The last packed charge of each token.
create table packed_tokens (
  token text collate "C" primary key,
  account_seq bigint not null,
  last_at timestamptz not null
);

-- The packed charges of resources by the hour.
create table packed_resource_hours (
  account text collate "C" not null,
  resource text collate "C" not null,
  hour timestamptz not null,
  operation text not null,
  energy_nj numeric(38, 0) not null,
  carbon_pg numeric(38, 0) not null,
  charge_pusd numeric(38, 0) not null,
  primary key (account, resource, hour, operation)
);

-- The pack that was proven last, of a round through all of them.
create table pack_round (
  single boolean primary key default true check (single),
  account text collate "C" not null default '',
  first_seq bigint not null default 0,
  proven_at timestamptz
);
insert into pack_round default values;

-- A charge goes only when a pack has its number.
create function refuse_unless_packed() returns trigger language plpgsql as $$
begin
  if exists (select from gone where not exists (select from charge_packs p
      where p.account = gone.account and gone.account_seq between p.first_seq and p.last_seq)) then
    raise exception 'charges is append-only' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
drop trigger charges_append_only on charges;
create trigger charges_append_only before update or truncate on charges
  for each statement execute function refuse_change();
create trigger charges_go_into_packs after delete on charges referencing old table as gone
  for each statement execute function refuse_unless_packed();
create trigger charge_packs_append_only before update or delete or truncate on charge_packs
  for each statement execute function refuse_change();
