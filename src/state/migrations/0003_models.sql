-- The catalogue of models: what the router chooses from, and what the agent starts cells for. The
-- agent writes it, gateways read it.
create table models (
  id text collate "C" primary key,
  -- A ModelOffer without its state (src/inference/catalogue.ts).
  offer jsonb not null,
  -- Where it is served: {"socket": …} of a model cell, or {"base_url": …} of an upstream.
  provider jsonb not null,
  -- For cells: where the weights come from, and how they are loaded.
  source jsonb,
  engine jsonb,
  state text not null check (state in ('ready', 'loading', 'failed', 'removed')),
  reason text,
  -- Default models are declared anew at each start, unless an operator removed them.
  is_default boolean not null,
  position integer not null default 0,
  updated_at timestamptz not null default now()
);
