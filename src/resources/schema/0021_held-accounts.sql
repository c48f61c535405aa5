create index resources_held on resources (account) where held is not null;
