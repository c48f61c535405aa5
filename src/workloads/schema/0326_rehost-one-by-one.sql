-- rehost_workload() took its place.
drop function if exists rehost_workloads(text);
