-- The bands of charges in the sums of an hour: the energy of each part in nJ times its band in percent. Null where a charge
-- was summed before this column.
alter table usage_hours add column band_weight numeric(44, 0);
