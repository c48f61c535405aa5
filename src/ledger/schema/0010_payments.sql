-- Money of payments: the cause of each lot, the operator's sides of vouchers and of refunds on their way, and the ways
-- to the transfers of an account by time and by their cause.

alter table lots add column reference text collate "C" not null default '';
create index lots_by_reference on lots (reference) where reference <> '';

create index transfers_by_reference on transfers (reference) where reference <> '';
create index transfers_from_money on transfers (debit, at, id) where debit like 'money:%';
create index transfers_to_money on transfers (credit, at, id) where credit like 'money:%';

insert into wallets (id, unit, bounded) values
  ('operator:promotion:USD', 'USD', false),
  ('operator:promotion:tUSD', 'tUSD', false),
  ('operator:refunds:USD', 'USD', false),
  ('operator:refunds:tUSD', 'tUSD', false);
