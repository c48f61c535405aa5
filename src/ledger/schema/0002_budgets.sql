-- Energy budgets: the most energy that something may be charged on a day of UTC. A budget limits and never pays. Its id
-- is that of what it limits: a resource.
create table budgets (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  nj_per_day numeric(38, 0) not null check (nj_per_day > 0)
);

-- The wallet of a budget on a day, with the energy that was put into it. The wallet holds the part that is not used.
create table budget_days (
  wallet text collate "C" primary key references wallets (id),
  budget text collate "C" not null,
  granted_nj numeric(38, 0) not null default 0,
  -- The events of the day are emitted; a budget that is raised arms them again.
  is_warned boolean not null default false,
  is_exceeded boolean not null default false
);
create index budget_days_by_budget on budget_days (budget);

drop function if exists grant_budget(text, numeric);
