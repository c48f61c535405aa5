-- Further names of models: what clients that name another vendor's model are served with. The agent writes them,
-- gateways read them. A model that goes leaves its aliases, which work again once it is back.
create table model_aliases (
  name text collate "C" primary key,
  -- A model's id, or "auto".
  model text not null,
  created_at timestamptz not null default now()
);
