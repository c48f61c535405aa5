-- A deployment may be cancelled.
alter table deployments drop constraint deployments_status_check;
alter table deployments add constraint deployments_status_check check (status in ('running', 'done', 'failed', 'cancelled'));
