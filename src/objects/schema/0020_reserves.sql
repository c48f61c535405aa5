-- The ledger keeps them (src/ledger/reserves.sql).
drop table storage_reserves;
drop function if exists storage_reserve(text[], numeric[]);
