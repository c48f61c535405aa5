-- Which state this is, and which node has it.

-- The data folder remembers the id, so that a node is never started on another state, whose sessions
-- would have the same names. The id moves with a copy or a restore.
create table state_identity (
  is_one boolean primary key default true check (is_one),
  id uuid not null default gen_random_uuid()
);
insert into state_identity default values;

-- The node that took the state last. The advisory lock says whether that node still has the state. A node that lost
-- its connection finds another life here when the state was taken meanwhile.
create table state_owner (
  is_one boolean primary key default true check (is_one),
  life uuid not null,
  host text not null,
  folder text not null,
  since timestamptz not null default clock_timestamp()
);

-- Losses and damage that the operator must see. An alarm counts until the operator acknowledges it.
create table alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  detail jsonb not null,
  -- Alarms of one kind and key are one finding, which is raised once: until it is acknowledged, or for ever.
  key text,
  is_lasting boolean not null default false,
  at timestamptz not null default now(),
  acknowledged_at timestamptz
);
create index alarms_open on alarms (id) where acknowledged_at is null;
-- By a hash: a key may be longer than an entry of an index.
create unique index alarms_once on alarms (kind, md5(key))
  where key is not null and (is_lasting or acknowledged_at is null);
