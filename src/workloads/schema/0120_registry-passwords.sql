-- Passwords of registries that accounts keep for the pulls of their images.
create table registry_passwords (
  account text collate "C" not null references accounts (id),
  -- Its host and port.
  registry text collate "C" not null,
  username text not null,
  -- Encrypted by a key of the data folder.
  sealed_password text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (account, registry)
);
