-- Which price is in force is the one that was set last, whatever the clock said then: after one that was
-- ahead no later price counted. Rows were only ever added, so they lie in the order in which they were set.
alter table prices add column nth bigint;
update prices p set nth = o.nth from (select id, row_number() over (order by ctid) as nth from prices) o where o.id = p.id;
alter table prices alter column nth set not null;
alter table prices alter column nth add generated always as identity;
select setval(pg_get_serial_sequence('prices', 'nth'), coalesce(max(nth), 1), max(nth) is not null) from prices;
alter table prices add unique (nth);
