-- The catalogue of models: the router's choices, and the agent's list of cells. The agent writes, gateways
-- read.

create table models (
  id text collate "C" primary key,
  -- A ModelOffer without its state (inference/catalogue.ts).
  offer jsonb not null,
  -- The address: {"socket": …} of a model cell, or {"base_url": …} of an upstream.
  provider jsonb not null,
  -- For cells: the source of the weights, and how they are loaded.
  source jsonb,
  engine jsonb,
  state text not null check (state in ('ready', 'loading', 'failed', 'removed')),
  reason text,
  -- Default models are declared anew at each start, unless an operator removed them.
  is_default boolean not null,
  position integer not null default 0,
  updated_at timestamptz not null default now()
);

-- Further names of models, for clients that name another vendor's model. The aliases of a removed model
-- stay, and work again once the model is back.
create table model_aliases (
  name text collate "C" primary key,
  -- A model's id, or "auto".
  model text not null,
  created_at timestamptz not null default now()
);

-- The cost of each model as each gateway learned it (inference/learned.ts), so that `auto` and the ceilings do
-- not begin anew with each start.
create table learned_costs (
  process text collate "C" not null,
  model text collate "C" not null references models (id) on delete cascade,
  costs jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (process, model)
);
