-- Deployments: written down with their steps, kept within a limit, and removed with their account.

-- Null where one of that stack runs.
create or replace function add_deployment(of_id text, of_account text, of_stack text, of_file text, by_token text, by_request text,
  of_plan text, allows boolean, sealed text, steps jsonb, kept int) returns text language plpgsql as $$
begin
  -- Held to the end of the transaction: two creations at once would each count without the other.
  perform pg_advisory_xact_lock(4207719, hashtext(of_account));
  insert into deployments (id, account, stack, file, token, request, plan, allows_deletion, sealed_input, created_at)
  values (of_id, of_account, of_stack, of_file, by_token, by_request, of_plan, allows, sealed, ledger_now())
  on conflict (account, stack) where status = 'running' do nothing;
  if not found then return null; end if;
  insert into deployment_steps (deployment, place, address, kind, name, action, line, "column", changes, notes, outputs, needs, status, resource)
  select of_id, n, s ->> 'address', s ->> 'kind', s ->> 'name', s ->> 'action', (s ->> 'line')::int, (s ->> 'column')::int,
    s -> 'changes', s -> 'notes', s -> 'outputs', array(select jsonb_array_elements_text(s -> 'needs')),
    case when s ->> 'action' in ('none', 'keep') then 'done' else 'waiting' end, s ->> 'resource'
  from jsonb_array_elements(steps) with ordinality as given (s, n);
  delete from deployments where account = of_account and status <> 'running' and id <= (
    select id from deployments where account = of_account order by id desc offset kept limit 1);
  if jsonb_array_length(steps) = 0 then perform end_deployment(of_id, 'done', '[]');
  else perform pg_notify('ergon_deployments', of_id);
  end if;
  return of_id;
end $$;

-- Ends a deployment: what it was made of is forgotten.
create or replace function end_deployment(of_id text, reached text, of_outputs jsonb) returns void language sql as $$
  update deployment_steps set status = 'skipped', ended_at = ledger_now() where deployment = of_id and status = 'waiting';
  update deployments set status = reached, outputs = of_outputs, sealed_input = null, ended_at = ledger_now()
    where id = of_id and status = 'running';
$$;

-- Ends a running deployment where it is; false where it has ended. A step whose change has begun gets the fault
-- `unseen` of its action. The steps are locked first: a turn that makes a change now is waited for, and one that comes
-- later finds no open step.
create or replace function cancel_deployment(of_id text, unseen jsonb) returns boolean language plpgsql as $$
begin
  perform from deployment_steps where deployment = of_id order by place for update;
  perform from deployments where id = of_id and status = 'running' for update;
  if not found then return false; end if;
  update deployment_steps set status = 'failed', fault = unseen -> action, ended_at = ledger_now()
    where deployment = of_id and status = 'running';
  perform end_deployment(of_id, 'cancelled', '[]');
  return true;
end $$;

-- Removes what an account that is being deleted has here; its resources go with their products.
create or replace function leave_deployments(of_account text) returns void language sql as $$
  delete from stack_resources where account = of_account;
  delete from deployments where account = of_account;
$$;
