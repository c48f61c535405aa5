-- Facts that the agent of a node writes while the operator looks: gateways read them here and have no way to the agent.
create table node_facts (
  meter text collate "C" primary key,
  at timestamptz not null,
  facts jsonb not null
);
