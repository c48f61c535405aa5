-- Keeps a password of a registry for an account, in place of the one before. An account has at most `most`.
create or replace function keep_registry_password(of_account text, of_registry text, by_name text, sealed text, most int)
returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(4207714, hashtext(of_account));
  insert into registry_passwords values (of_account, of_registry, by_name, sealed, ledger_now(), ledger_now())
    on conflict (account, registry) do update
    set username = by_name, sealed_password = sealed, updated_at = ledger_now();
  if (select count(*) from registry_passwords where account = of_account) > most then
    raise exception 'there are % already', most using errcode = 'EG020';
  end if;
end $$;
