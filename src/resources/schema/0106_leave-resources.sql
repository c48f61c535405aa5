-- leave_resources() does the work of both.
drop function if exists leave_functions(text);
drop function if exists leave_workloads(text);
