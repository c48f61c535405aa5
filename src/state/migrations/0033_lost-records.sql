-- Records that a session wrote and nobody can read any more: their numbers hold no charge and no window.
create table lost_records (
  session text collate "C" not null,
  first_seq bigint not null,
  last_seq bigint not null check (last_seq >= first_seq),
  at timestamptz not null default now(),
  primary key (session, first_seq)
);
create trigger lost_records_append_only before update or delete or truncate on lost_records
  for each statement execute function refuse_change();
