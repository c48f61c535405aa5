-- The operator suspends accounts too.
alter table resources drop constraint resources_held_check;
alter table resources add constraint resources_held_check check (held in ('balance', 'suspended', 'deleting'));
