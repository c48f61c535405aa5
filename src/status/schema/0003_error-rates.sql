-- The name under which the error rate of an account is public: at random, so nothing of the account is in it.
create table public_names (
  account text collate "C" primary key references accounts (id),
  name text collate "C" not null unique
    default 'pub_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)
);

-- Requests of each account that were answered in an hour, and those that the service failed.
create table account_hours (
  account text collate "C" not null references accounts (id),
  hour timestamptz not null,
  requests bigint not null,
  failures bigint not null,
  primary key (account, hour)
);
create index account_hours_by_hour on account_hours (hour);
