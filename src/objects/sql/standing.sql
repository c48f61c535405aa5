-- The standing charge of stored bytes: samples of buckets; and accounts that can store no more.

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

-- True when the balance of an account does not cover the days of storage that are kept of it. Then the account can store no
-- more.
create or replace function storage_is_read_only(account_id text) returns boolean language plpgsql stable as $$
begin
  return coalesce((select w.posted - w.kept + r.amount < r.wanted
    from reserves r join wallets w on w.id = r.wallet
    where r.wallet = 'money:' || account_id and r.kind = 'retention'), false);
end $$;
