-- Why the service holds a resource suspended, whatever its account wants: its deletion, or an empty balance.
alter table resources add column held text check (held in ('balance', 'deleting'));
-- The state that the reconciler brings about. A resource that is being made is made first.
alter table resources add column wanted text generated always as (
  case when desired = 'deployed' and held is not null and actual not in ('pending', 'deploying')
    then 'suspended' else desired end) stored;
drop index resources_unsettled;
create index resources_unsettled on resources (kind, id) where actual <> wanted or reached_revision < revision;
create index resources_by_account on resources (account) where desired <> 'deleted';
