-- A host has the name of its workload, and may be a domain of the owner: neither outlives the workload.
update workloads w set host = '', hosts = '{}' from resources r where r.id = w.id and r.actual = 'deleted';
