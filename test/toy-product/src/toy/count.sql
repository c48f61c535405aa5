-- Counts up, and writes the event in the same transaction.
create or replace function toy_count(of_account text, by_count bigint) returns bigint language plpgsql as $$
declare
  total bigint;
begin
  insert into toy_counts (account, count) values (of_account, by_count)
  on conflict (account) do update set count = toy_counts.count + excluded.count
  returning count into total;
  perform emit_event(of_account, 'toy.counted', jsonb_build_object('count', total));
  return total;
end $$;
