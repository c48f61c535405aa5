-- Which node has the state, for whoever finds it locked, and for a node that has lost its connection: another
-- life in this row says that the state was taken meanwhile. Whether it has it still, the lock says.
create table state_owner (
  is_one boolean primary key default true check (is_one),
  life uuid not null,
  host text not null,
  folder text not null,
  since timestamptz not null default clock_timestamp()
);
