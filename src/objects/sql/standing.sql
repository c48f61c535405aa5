-- The standing charge of stored bytes: samples of buckets, and the balance that an account must keep.

-- Samples buckets; see standing_look(). Reads the counters of stored bytes, not the objects.
create or replace function storage_look(minute_ms bigint, bucket_ids int[], zj_per_byte_ms numeric)
returns table (id text, name text, account text, bytes numeric, energy_nj numeric, from_ms bigint, to_ms bigint)
language sql as $$
  select l.* from (
    select array_agg(b.id::text) as ids, array_agg(b.name) as names, array_agg(b.account) as accounts,
      array_agg(b.documents_bytes
        + coalesce((select sum(u.bytes) from bucket_usage u where u.bucket = b.id), 0)) as stored
    from buckets b where b.id = any (bucket_ids)
  ) p, lateral standing_look('bucket', minute_ms, zj_per_byte_ms, bucket_ids::text[],
    p.ids, p.names, p.accounts, p.stored) l
$$;

-- Sets the balance that each account with funds must keep: the price of the given energy.
create or replace function storage_reserve(account_ids text[], energies_nj numeric[])
returns void language sql as $$
  delete from storage_reserves where account <> all (account_ids);
  insert into storage_reserves as r (account, pusd)
    select a.id, ceil(given.nj * (select pusd_per_j from current_price()) / 1000000000)
    from unnest(account_ids, energies_nj) as given (id, nj) join accounts a on a.id = given.id and a.funded
    order by a.id
  on conflict (account) do update set pusd = excluded.pusd where r.pusd <> excluded.pusd;
$$;

-- True when the balance of an account is below what it must keep. Then the account can store no more.
create or replace function storage_is_read_only(account_id text) returns boolean language plpgsql stable as $$
begin
  return coalesce((select w.posted < r.pusd from storage_reserves r join wallets w on w.id = 'money:' || r.account
    where r.account = account_id), false);
end $$;
