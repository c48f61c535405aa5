-- Secrets from before a rotation, the newest first: {secret, until} each. A second rotation ended the first one at once.
alter table webhook_endpoints add column old_secrets jsonb not null default '[]';
update webhook_endpoints
set old_secrets = jsonb_build_array(jsonb_build_object('secret', previous_secret, 'until', previous_until))
where previous_secret is not null and previous_until is not null;
alter table webhook_endpoints drop column previous_secret, drop column previous_until;
-- Its result has all of them now (sql/deliveries.sql).
drop function if exists webhook_due(text[], int, int, bigint[]);
