-- The instances of what answers at a route: {"min", "max", "target"}, the last being the requests of one at once. Null: there is one.
alter table ingress_routes add column scale jsonb;
