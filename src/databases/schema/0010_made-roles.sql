-- A role that reads is a role of the server too, which the agent makes: its login waits for that. Those of an earlier
-- version are made.
alter table database_roles add column is_made boolean not null default true;
alter table database_roles alter column is_made set default false;
