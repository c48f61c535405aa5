-- Images at rest: each account pays for those of its versions, once for each image, and has a quota of their bytes.

-- The images of an account on the node, each once, with the first workload that has it. A needed image is of a version that is
-- wanted or live, or `in_use`: versions whose instances run, each as `<workload> <version>`.
create or replace function account_images(of_account text, in_use text[] default '{}')
returns table (workload text, word text, bytes bigint, is_needed boolean) language sql stable as $$
  select min(v.workload), v.image_word, max(coalesce(v.image_bytes, 0)),
    coalesce(bool_or(v.version = n.version or v.version = n.live_version
      or v.workload || ' ' || v.version = any (in_use)), false)
  from resources n join workload_versions v on v.workload = n.id
  where n.account = of_account and n.kind = 'workload' and n.actual <> 'deleted' and v.image_word is not null
  group by v.image_word
$$;

-- The bytes that the image of a version may have. Versions that do not need theirs give them up for it.
create or replace function image_room(of_id text, of_version int, most bigint, in_use text[])
returns bigint language sql stable as $$
  select greatest(0, most - coalesce(sum(i.bytes) filter (where i.is_needed and i.word is distinct from v.image_word), 0))::bigint
  from workload_versions v join resources n on n.id = v.workload left join lateral account_images(n.account, in_use) i on true
  where v.workload = of_id and v.version = of_version group by v.workload
$$;

-- Gives a version its image. Where the images of its account would have more than `most` bytes, the oldest versions that do not
-- need theirs give them up: a rollback to such a version pulls its image again. Returns null, or the bytes of the others
-- where that is not enough. An image that the account has already is never refused.
create or replace function keep_image(of_id text, of_version int, of_digest text, of_config jsonb, of_word text,
  of_bytes bigint, most bigint, in_use text[]) returns bigint language plpgsql as $$
declare
  of_account constant text := (select account from resources where id = of_id);
  others bigint;
  old record;
begin
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  if not exists (select from account_images(of_account) i where i.word = of_word) then
    loop
      select coalesce(sum(i.bytes), 0) into others from account_images(of_account) i;
      exit when others + of_bytes <= most;
      select i.word into old from account_images(of_account, in_use) i
        join workload_versions v on v.image_word = i.word
        join resources n on n.id = v.workload and n.account = of_account
        join resource_versions o on o.resource = v.workload and o.version = v.version
        where not i.is_needed group by i.word order by max(o.created_at), i.word limit 1;
      if not found then return others; end if;
      update workload_versions v set image_word = null, image_bytes = null, gave_up_image = true from resources n
        where n.id = v.workload and n.account = of_account and v.image_word = old.word;
    end loop;
  end if;
  update workload_versions set digest = of_digest, config = of_config, pull = null, image_word = of_word, image_bytes = of_bytes,
    gave_up_image = false
    where workload = of_id and version = of_version;
  return null;
end $$;

-- Samples the workloads for the standing charge of their images; see standing_look().
create or replace function image_look(minute_ms bigint, asked text[], zj_per_byte_ms numeric)
returns table (id text, name text, account text, bytes numeric, energy_nj numeric, from_ms bigint, to_ms bigint)
language sql as $$
  select l.* from (
    select array_agg(n.id) as ids, array_agg(n.name) as names, array_agg(n.account) as accounts,
      array_agg((select coalesce(sum(i.bytes), 0) from account_images(n.account) i where i.workload = n.id)::numeric) as stored
    from resources n where n.id = any (asked) and n.desired <> 'deleted'
  ) p, lateral standing_look('image', minute_ms, zj_per_byte_ms, asked, p.ids, p.names, p.accounts, p.stored) l
$$;
