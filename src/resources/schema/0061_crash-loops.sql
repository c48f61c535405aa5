-- A resource that ends again and again by itself is deployed no more, and is tried on. A used budget holds a resource too.
alter table resources drop constraint resources_actual_check;
alter table resources add constraint resources_actual_check
  check (actual in ('pending', 'deploying', 'deployed', 'crash_loop', 'suspended', 'failed', 'deleted'));
alter table resources drop constraint resources_held_check;
alter table resources add constraint resources_held_check
  check (held in ('budget', 'balance', 'suspended', 'deleting'));
