-- Which state this is: the data folder remembers it, so that a node is never started on another state,
-- whose sessions would have the same names. It moves with a copy or a restore.
create table state_identity (
  is_one boolean primary key default true check (is_one),
  id uuid not null default gen_random_uuid()
);
insert into state_identity default values;
