-- The receipts of the requests of a probe, whose sum its figures are: [{"id", "energy_nj"}]. Null in rows of before.
alter table probe_results add column receipts jsonb;
