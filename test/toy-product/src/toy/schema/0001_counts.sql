create table toy_counts (
  account text collate "C" primary key references accounts (id),
  count bigint not null
);
