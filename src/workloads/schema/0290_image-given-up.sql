-- True where the version has given up its image for others of its account: the files may be there still, as other accounts
-- have them, and are not of the version.
alter table workload_versions add column gave_up_image boolean not null default false;
