-- The objects and events of the embedded test processor. It never reads the tables of payments: both meet over HTTP.
create table test_processor_objects (
  id text collate "C" primary key,
  kind text not null,
  body jsonb not null
);
create index test_processor_objects_by_kind on test_processor_objects (kind, id);
create table test_processor_events (
  seq bigint generated always as identity primary key,
  id text collate "C" not null unique,
  -- In seconds.
  created bigint not null,
  body jsonb not null,
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  delivered_at timestamptz
);
create index test_processor_events_due on test_processor_events (next_at) where delivered_at is null;
create table test_processor_answers (
  key text collate "C" primary key,
  fingerprint text not null,
  status integer not null,
  body jsonb not null
);
-- Its clock may be ahead, for tests of later days.
create table test_processor_clock (
  single boolean primary key default true check (single),
  ahead_s bigint not null
);
insert into test_processor_clock (ahead_s) values (0);
