-- The tries of the wish that failed in a row: the pace of further tries outlives the process.
alter table resources add column failed_tries smallint not null default 0;
