-- What each gateway has learned of what models really cost (src/inference/learned.ts), so that `auto`
-- and the ceilings do not begin anew with each start.
create table learned_costs (
  process text collate "C" not null,
  model text collate "C" not null references models (id) on delete cascade,
  costs jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (process, model)
);
