-- Counts up, and writes the event in the same transaction. Null when the counter is at its end.
create or replace function toy_count(of_account text, by_count bigint) returns bigint language plpgsql as $$
declare
  total bigint;
begin
  insert into toy_counts (account, count, charged_at) values (of_account, by_count, ledger_now())
  on conflict (account) do update set count = toy_counts.count + excluded.count
    where toy_counts.count + excluded.count <= 1000
  returning count into total;
  if total is not null then
    perform emit_event(of_account, 'toy.counted', jsonb_build_object('count', total));
  end if;
  return total;
end $$;

-- The accounts that owe for a second or more, each once: their time is taken as charged.
create or replace function toy_due() returns table (account text, from_ms text, to_ms text) language sql as $$
  with due as (
    select account, charged_at from toy_counts
    where charged_at < ledger_now() - interval '1 second' for update)
  update toy_counts set charged_at = ledger_now() from due where toy_counts.account = due.account
  returning toy_counts.account, (extract(epoch from due.charged_at) * 1000)::bigint::text,
    (extract(epoch from toy_counts.charged_at) * 1000)::bigint::text
$$;
