-- Forgets windows that began before the second `before_k`, at most so many; answers how many went.
create or replace function forget_windows(before_k bigint, at_most integer) returns bigint
language plpgsql as $$
declare
  gone bigint;
begin
  perform set_config('ergon.forgets', 'windows', true);
  delete from windows where ctid = any (array(
    select old.place from tariffs t cross join lateral (
      select w.ctid as place from windows w where w.meter = t.meter and w.k < before_k order by w.k limit at_most
    ) old limit at_most
  ));
  get diagnostics gone = row_count;
  perform set_config('ergon.forgets', '', true);
  return gone;
end $$;
