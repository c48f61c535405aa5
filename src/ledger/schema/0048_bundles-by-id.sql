-- A bundle is found by an id in the range of its ids, with or without its account. By last_id alone the oldest id was
-- behind all bundles: 129 ms of 50,000.
create type id_range as range (subtype = text, collation = "C");
create index charge_bundles_by_ids on charge_bundles using gist (id_range(first_id, last_id, '[]'));
drop index charge_bundles_by_id;
