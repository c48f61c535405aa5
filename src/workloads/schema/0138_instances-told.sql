-- The number of instances in the last event of the account; none counts as one.
alter table workloads add column instances_told int not null default 1;
