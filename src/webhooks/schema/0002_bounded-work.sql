-- They have limits now (sql/deliveries.sql).
drop function if exists webhook_due(text[], int);
drop function if exists webhook_upkeep(int);

-- Deliveries that a clock set back has moved away.
create index webhook_deliveries_since on webhook_deliveries (since) where state = 'pending';

-- Endpoints that were deleted: events that were written meanwhile may still make deliveries for them.
create table webhook_deleted (
  endpoint text collate "C" primary key,
  at timestamptz not null
);
insert into webhook_deleted (endpoint, at)
select distinct d.endpoint, now() from webhook_deliveries d
where not exists (select from webhook_endpoints e where e.id = d.endpoint);
