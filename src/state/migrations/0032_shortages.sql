-- Who lately wanted more of a wallet than was left beside the leases of others: those give back what they do not use.
create table shortages (
  wallet text collate "C" not null references wallets (id),
  session text collate "C" not null references sessions (id),
  at timestamptz not null,
  primary key (wallet, session)
);
