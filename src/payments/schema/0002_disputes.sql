-- A dispute: the money that the payer's bank took back, and the lot of the account's part of it.
alter table payments add column dispute_pusd numeric(38, 0);
alter table payments add column dispute_lot bigint references lots (id);
-- The next step of the payer, as the processor said it.
alter table payments add column action jsonb;
