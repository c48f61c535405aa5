-- The lines of all resources are in one table.
insert into resource_logs (resource, at, source, level, text)
  select function, at, request, level, text from function_logs order by seq;
drop function if exists log_functions(jsonb, int);
drop table function_logs;
