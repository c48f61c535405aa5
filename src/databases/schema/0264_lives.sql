-- The number of the last life of a server that answered: the log of an earlier one is not that of the last.
alter table databases add column lives bigint not null default 0;
