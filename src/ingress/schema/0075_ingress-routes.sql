-- The routes of what accounts run. Products write them by set_routes(); the ingress follows the table.
create table ingress_routes (
  resource text collate "C" not null references resources (id),
  account text collate "C" not null references accounts (id),
  -- A whole name of its own. Null: below the addresses of the account.
  host text collate "C",
  path text not null,
  timeout_s integer not null,
  -- Requests that run at once. Null: as many as its kind has.
  concurrency integer
);
create unique index ingress_routes_by_account on ingress_routes (account, path) where host is null;
create unique index ingress_routes_by_host on ingress_routes (host, path) where host is not null;
create index ingress_routes_by_resource on ingress_routes (resource);
