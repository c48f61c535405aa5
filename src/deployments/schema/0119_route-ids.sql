-- The id of a route names its workload too: a host that has gone to another workload by other means is another route.
update stack_resources s set resource = w.id || '/' || s.name from workloads w join resources n using (id)
  where s.kind = 'route' and s.resource = s.name and n.account = s.account and n.desired <> 'deleted' and s.name = any (w.hosts);
update deployment_steps s set resource = w.id || '/' || s.name
  from deployments d, workloads w join resources n using (id)
  where s.kind = 'route' and s.resource = s.name and d.id = s.deployment and d.status = 'running'
    and n.account = d.account and n.desired <> 'deleted' and s.name = any (w.hosts);
