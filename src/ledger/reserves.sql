-- Reserves: what is kept of a balance for the things that go on by themselves. Locks: wallets by id, then log_head.

-- Notes what a source wants to be kept of the balances of accounts: the price of an energy each. Accounts that are not
-- named want nothing. Returns the wallets whose reserve of the kind is now to be fitted: it differs from the wanted
-- amount, or is short while the balance has an unleased part.
drop function if exists fit_reserves(text, text, text[], numeric[]);
create or replace function want_reserves(of_kind text, of_source text, account_ids text[], energies_nj numeric[])
returns text[] language plpgsql as $$
begin
  with priced as (
    select 'money:' || id as wallet, ceil(nj * (select pusd_per_j from current_price()) / 1000000000) as pusd
    from unnest(account_ids, energies_nj) as given (id, nj) where nj > 0
  ), gone as (
    delete from reserve_parts where kind = of_kind and source = of_source
      and wallet <> all (array(select wallet from priced))
  )
  insert into reserve_parts as p (wallet, kind, source, pusd)
    select wallet, of_kind, of_source, pusd from priced join wallets w on w.id = priced.wallet order by wallet
  on conflict (kind, source, wallet) do update set pusd = excluded.pusd where p.pusd <> excluded.pusd;
  return array(
    select wallet
    from (select wallet, sum(pusd) as pusd from reserve_parts where kind = of_kind group by wallet) p
    full join (select * from reserves where kind = of_kind) r using (wallet)
    join wallets w on w.id = wallet
    where p.pusd is distinct from r.wanted or r.amount < r.wanted and w.posted > w.reserved
    order by wallet);
end $$;

-- Brings the reserves of a kind of some wallets to the wanted amounts. A reserve grows out of the unleased part, so
-- that running work loses nothing. log_head is locked to the end of the transaction, so a call takes few wallets.
create or replace function fit_reserves(of_kind text, of_wallets text[]) returns void language plpgsql as $$
begin
  perform from wallets where id = any (of_wallets) order by id for no key update;
  perform from log_head for update;
  perform fit_reserve(wallet, of_kind) from unnest(of_wallets) as wallet order by wallet;
end $$;

-- Brings one reserve of a locked wallet to the amount that its sources want, as far as the money is not leased.
create or replace function fit_reserve(of_wallet text, of_kind text) returns void language plpgsql as $$
declare
  wish constant numeric := coalesce((select sum(pusd) from reserve_parts where wallet = of_wallet and kind = of_kind), 0);
  home wallets%rowtype;
  had numeric;
  has numeric;
begin
  select * into strict home from wallets where id = of_wallet;
  had := coalesce((select amount from reserves where wallet = of_wallet and kind = of_kind), 0);
  has := least(wish, had + home.posted - home.reserved);
  insert into reserves as r (wallet, kind, wanted, amount) values (of_wallet, of_kind, wish, has)
    on conflict (wallet, kind) do update set wanted = excluded.wanted, amount = excluded.amount
    where r.wanted <> excluded.wanted or r.amount <> excluded.amount;
  delete from reserves where wallet = of_wallet and kind = of_kind and wanted = 0;
  update wallets set reserved = reserved + has - had, kept = kept + has - had where id = of_wallet and has <> had;
  perform note_depleted(of_wallet, has > had);
  -- Money that stored bytes no longer need is to be spent again. The grace follows the power of the last seconds.
  if of_kind = 'retention' and has < had then perform note_solvent(substr(of_wallet, 7)); end if;
end $$;

-- After a credit: the reserves that are short come first. The wallet is locked.
create or replace function fill_reserves(of_wallet text) returns void language sql as $$
  select fit_reserve(wallet, kind) from reserves where wallet = of_wallet and amount < wanted order by kind
$$;

-- Reports once that a balance has only reserves left, less than the amount that admits a request.
create or replace function note_depleted(of_wallet text, is_less boolean) returns void language plpgsql as $$
declare
  home wallets%rowtype;
begin
  select * into strict home from wallets where id = of_wallet;
  if is_less and home.posted - home.kept < least_pusd() then
    update accounts set depleted_at = ledger_now() where id = substr(of_wallet, 7) and depleted_at is null;
    if found then
      perform emit_event(substr(of_wallet, 7), 'balance.depleted',
        jsonb_build_object('balance_pusd', home.posted::text, 'unit', home.unit));
    end if;
  end if;
end $$;
