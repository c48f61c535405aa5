-- The sums of a pack by hour, so that a span of time that cuts an hour decodes no more than the packs that its ends
-- cut. A list of [hour, operation, model, token, resource, requests, energy_nj, carbon_pg, charge_pusd, measured_nj];
-- null in packs that were made before this column.
alter table charge_packs add column sums jsonb;
