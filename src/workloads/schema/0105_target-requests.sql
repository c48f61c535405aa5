-- Requests of an instance at once, beyond which another one starts.
alter table workloads add column target_requests integer not null default 50 check (target_requests > 0);
