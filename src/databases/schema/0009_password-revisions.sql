-- Revisions of passwords, each used once: a role that is made again under the name of an earlier one gets none of its
-- passwords. They begin above those that earlier versions counted from 1 for each role, of roles that are gone too.
create sequence database_password_revisions as integer start 1000000;
alter table database_roles alter column revision drop default;
