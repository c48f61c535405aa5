-- The lines that resources write, of all kinds; a product keeps the newest of each resource.
create table resource_logs (
  seq bigint generated always as identity,
  resource text collate "C" not null references resources (id),
  at timestamptz not null,
  -- The part of the resource that wrote the line, as its product names parts: a request, or a version.
  source text,
  level text not null,
  text text not null,
  primary key (resource, seq)
);
