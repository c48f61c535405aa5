-- The id of the resource that a charge is of; null of requests and of buckets, which have too many charges.
alter table charges add column resource text collate "C";
create index charges_by_resource on charges (resource, to_at) where resource is not null;

-- The operations that a budget limits: the others of its resource are charged beside it.
alter table budgets add column operations text[] not null default '{}';
-- The energy of those that was charged on the day without the budget: before it was set, and what was under way then.
alter table budget_days add column unlimited_nj numeric(38, 0) not null default 0;

drop function if exists set_budget(text, text, numeric);
drop function if exists tick_append_charges(bigint[], smallint[], int[], bytea, bigint, text, bigint);
