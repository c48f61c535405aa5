-- Rollup of old windows: five minutes of them are summed into one row, which is deleted when it is older than
-- windows are kept.

-- Sums windows before the second `before_k` into rows of window_rollups: of each meter the oldest `at_most` stretches
-- of five minutes. Returns the number of windows rolled up. One statement deletes and sums the same windows, so nothing
-- is lost or counted twice beside concurrent calls.
create or replace function roll_up_windows(before_k bigint, at_most integer) returns bigint
language plpgsql as $$
declare
  gone bigint;
begin
  perform set_config('ergon.forgets', 'windows', true);
  with reach as (
    -- Whole stretches: one that is cut would become two rows.
    select t.meter, least(before_k - before_k % 300, (first.k / 300 + at_most) * 300) as k
    from tariffs t cross join lateral (select min(w.k) as k from windows w where w.meter = t.meter) first
  ), old as (
    delete from windows w using reach r, sessions s
    where w.meter = r.meter and w.k < r.k and s.id = w.session
      -- A tick may send again what was posted, and is held to its hash: more records than that stay as they are.
      and (s.closed_at is not null or w.seq <= s.last_seq - 4000)
    returning w.session, w.seq, w.meter, w.k, w.k / 300 as stretch, w.reading_nj, w.hash, w.bytes
  ), parsed as materialized (
    select o.session, o.seq, o.meter, o.k, o.stretch, o.reading_nj, o.hash, f.*
    from old o, json_to_record(convert_from(o.bytes, 'UTF8')::json) as f (method text, band_pct int, pue_milli int,
      fallback text, elapsed_ns numeric, busy_ns numeric, idle_nj numeric, charged_ns numeric, accrued_nj numeric,
      tariff_nj_per_cpu_s numeric, shares json)
  ), numbered as materialized (
    select *, dense_rank() over (order by session, meter, stretch, method, band_pct, pue_milli, fallback) as row_nr
    from parsed
  ), shared as (
    select row_nr, jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', name, 'payer', payer, 'account', account,
      'cpu_ns', cpu_ns::text, 'dynamic_nj', dynamic_nj::text, 'idle_nj', idle_nj::text))
      order by name, payer, account) as shares
    from (
      select n.row_nr, s.name, s.payer, s.account, sum(s.cpu_ns) as cpu_ns, sum(s.dynamic_nj) as dynamic_nj,
        sum(s.idle_nj) as idle_nj
      from numbered n, json_to_recordset(n.shares) as s (name text, payer text, account text, cpu_ns numeric,
        dynamic_nj numeric, idle_nj numeric)
      group by 1, 2, 3, 4
    ) by_payer group by row_nr
  ), rolled as (
    insert into window_rollups (session, first_seq, meter, first_k, last_k, windows, hash, method, band_pct, pue_milli,
      fallback, elapsed_ns, busy_ns, reading_nj, idle_nj, charged_ns, accrued_nj, tariff_min_nj_per_cpu_s,
      tariff_max_nj_per_cpu_s, shares)
    select session, min(seq), meter, min(k), max(k), count(*), sha256(string_agg(hash, '' order by seq)), method,
      band_pct, pue_milli, fallback, sum(elapsed_ns), sum(busy_ns), sum(reading_nj), sum(idle_nj), sum(charged_ns),
      sum(accrued_nj), min(tariff_nj_per_cpu_s), max(tariff_nj_per_cpu_s),
      coalesce((select s.shares from shared s where s.row_nr = n.row_nr), '[]')
    from numbered n group by row_nr, session, meter, stretch, method, band_pct, pue_milli, fallback
  ) select count(*) into gone from old;
  perform set_config('ergon.forgets', '', true);
  return gone;
end $$;

-- Forgets windows, rolled up or not, that began before the second `before_k`, at most so many; answers how many
-- rows went.
create or replace function forget_windows(before_k bigint, at_most integer) returns bigint
language plpgsql as $$
declare
  gone bigint;
begin
  perform set_config('ergon.forgets', 'windows', true);
  with old as (
    delete from windows where ctid = any (array(
      select old.place from tariffs t cross join lateral (
        select w.ctid as place from windows w where w.meter = t.meter and w.k < before_k order by w.k limit at_most
      ) old limit at_most
    )) returning 1
  ), older as (
    delete from window_rollups where ctid = any (array(
      select old.place from tariffs t cross join lateral (
        select p.ctid as place from window_rollups p where p.meter = t.meter and p.last_k < before_k
        order by p.first_k limit at_most
      ) old limit at_most
    )) returning 1
  ) select (select count(*) from old) + (select count(*) from older) into gone;
  perform set_config('ergon.forgets', '', true);
  return gone;
end $$;
