-- The certificates of database endpoints, for clients that check them.
create table database_endpoints (
  host text collate "C" primary key,
  -- PEM; the certificates of its issuers follow where there are any.
  certificate text not null,
  is_self_signed boolean not null
);
