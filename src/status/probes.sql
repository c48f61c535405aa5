-- The results of the installation's own probe.

-- Components whose last probe is younger than the period: they are not due. One that was not probed is always due.
create or replace function probed_lately(every_s int) returns setof text language sql stable as $$
  select l.component from (select distinct component from probe_results) c
  join lateral (select * from probe_results r where r.component = c.component order by at desc limit 1) l on true
  where l.state <> 'not_probed' and l.at > now() - make_interval(secs => every_s)
$$;

-- Keeps a result. Of components that are not probed the newest row alone is kept.
create or replace function add_probe(result jsonb) returns void language sql as $$
  delete from probe_results where component = result ->> 'component' and state = 'not_probed';
  insert into probe_results
    select * from jsonb_populate_record(null::probe_results, result || jsonb_build_object('at', clock_timestamp()))
$$;

-- Removes a batch of results that nobody reads; false once none is left.
create or replace function probes_upkeep(kept_days int, batch int) returns boolean language sql as $$
  with gone as (
    delete from probe_results where ctid = any (array(
      select ctid from probe_results where at < now() - make_interval(days => kept_days) limit batch))
    returning 1
  )
  select count(*) = batch from gone
$$;
