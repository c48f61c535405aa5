-- Followers of buckets, by the names of the buckets: one that is made again later is followed too.

-- Follows these buckets of an account, and no others, from now on.
create or replace function follow_buckets(of_follower text, of_account text, names text[]) returns void language plpgsql as $$
declare
  before text[];
begin
  with gone as (delete from bucket_followers where follower = of_follower returning bucket)
  select coalesce(array_agg(bucket), '{}') into before from gone;
  insert into bucket_followers (account, bucket, follower) select of_account, name, of_follower from unnest(names) name
    on conflict do nothing;
  update buckets b set followed = exists (select from bucket_followers f where f.account = b.account and f.bucket = b.name)
    where b.account = of_account and b.name = any (before || names);
end $$;

-- Writes a row for each follower of a bucket, in the transaction of the new object.
create or replace function storage_follow(bucket_id int, object_key text, version text) returns void language plpgsql as $$
begin
  insert into followed_objects (follower, bucket, key, version_id, at)
  select f.follower, b.name, object_key, version, clock_timestamp()
  from buckets b join bucket_followers f on f.account = b.account and f.bucket = b.name where b.id = bucket_id;
  if found then perform pg_notify('ergon_followed', ''); end if;
end $$;
