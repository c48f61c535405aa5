-- Removes the endpoints of an account that is being deleted, with their deliveries.
create or replace function leave_webhooks(of_account text) returns void language plpgsql as $$
declare
  mine constant text[] := array(select id from webhook_endpoints where account = of_account);
begin
  insert into webhook_deleted select id, ledger_now() from unnest(mine) as id on conflict do nothing;
  delete from webhook_deliveries where endpoint = any (mine);
  delete from webhook_endpoints where id = any (mine);
  perform webhook_changed(of_account, id) from unnest(mine) as id;
  delete from webhook_feeds where account = of_account;
end $$;
