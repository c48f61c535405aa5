-- Accounts that the operator has suspended, each with the reason that its owners read.
create table account_suspensions (
  account text collate "C" primary key references accounts (id),
  reason text not null,
  at timestamptz not null
);
