-- Endpoints of accounts, a delivery for each endpoint and event, and how far charges and object events are announced.
create table webhook_endpoints (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  url text not null,
  description text not null,
  -- Types, and bucket/<bucket>/object-created.
  events text[] not null,
  -- Enciphered under a key of the data folder (base/encryption.ts).
  secret text not null,
  previous_secret text,
  previous_until timestamptz,
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  -- Why it was disabled.
  reason text,
  -- Failed attempts since the last success, and the first of them.
  failures integer not null default 0,
  failing_since timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  last_error text,
  -- Nothing is sent before: the next probe of a failing endpoint, or what its Retry-After asked for.
  rest_until timestamptz,
  created_at timestamptz not null,
  unique (account, url)
);

create table webhook_deliveries (
  id bigint primary key generated always as identity,
  -- Without foreign keys: an event is written by the tick, which must not wait for the deletion of an endpoint.
  endpoint text collate "C" not null,
  event text collate "C" not null,
  -- Type and data of a synthetic event, which is no event of the account.
  sample jsonb,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts smallint not null default 0,
  next_at timestamptz not null,
  -- When it was made, or its last attempt settled: later than now where the clock was set back.
  since timestamptz not null,
  created_at timestamptz not null,
  -- The last attempt.
  attempted_at timestamptz,
  status integer,
  error text,
  took_ms integer,
  answer text,
  -- The failed attempts, the oldest first.
  failed jsonb not null default '[]'
);
create unique index webhook_deliveries_by_event on webhook_deliveries (event, endpoint);
create index webhook_deliveries_due on webhook_deliveries (endpoint, next_at, id) where state = 'pending';
create index webhook_deliveries_by_time on webhook_deliveries (endpoint, created_at, id);

-- Accounts that asked for receipts or objects, and from when on.
create table webhook_feeds (
  account text collate "C" primary key references accounts (id),
  -- The account's number of the next charge to announce.
  receipts_from bigint,
  objects_from timestamptz
);

-- The last event of a bucket that was announced.
create table webhook_buckets (
  bucket integer primary key,
  transaction xid8 not null,
  id bigint not null
);

-- Replaced by sql/fan-out.sql: a trigger needs its function when it is made.
create function webhook_fan_out() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger events_to_webhooks after insert on events for each row execute function webhook_fan_out();
