-- Hosts are of resources of any kind. The column goes here, after 0119_route-ids, which reads it.
update resources n set hosts = w.hosts from workloads w where w.id = n.id and n.actual <> 'deleted';
alter table workloads drop column hosts;
-- It is route_workload() now.
drop function if exists host_workload(text);
-- Applied attributes are kept as digests alone: a value that is kept as a text would differ from its own digest. Until the next
-- deployment of its stack no note says that a resource was changed by other means; the plan has the change all the same.
update stack_resources set applied = null;
