-- Passkeys of members, what is asked of them, and the codes that stand in for them.

create table passkeys (
  id text collate "C" primary key,
  account text collate "C" not null,
  member text collate "C" not null,
  -- The id that the authenticator gave, as base64url.
  credential text collate "C" not null unique,
  public_key bytea not null,
  -- Signatures that the authenticator has counted; 0 for one that does not count.
  counter bigint not null,
  transports text[] not null,
  -- The person's devices share it.
  is_synced boolean not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  foreign key (account, member) references members (account, id)
);
create index passkeys_by_member on passkeys (member);
create index passkeys_by_account on passkeys (account);

-- A passkey that was asked for: one use, five minutes, one browser.
create table passkey_challenges (
  -- SHA-256 of the text in the browser's cookie.
  id bytea primary key,
  kind text not null check (kind in ('sign-up', 'sign-in', 'touch', 'passkey')),
  challenge text not null,
  facts jsonb not null,
  expires_at timestamptz not null
);
create index passkey_challenges_by_end on passkey_challenges (expires_at);

create table recovery_codes (
  -- SHA-256 of the code.
  hash bytea primary key,
  account text collate "C" not null,
  member text collate "C" not null,
  used_at timestamptz,
  foreign key (account, member) references members (account, id)
);
create index recovery_codes_by_member on recovery_codes (member);

-- Command lines that wait for a person.
create table command_logins (
  id text collate "C" primary key,
  user_code text collate "C" not null unique,
  -- RFC 7636, S256.
  code_challenge text not null,
  -- Null: the person types the code, and no browser comes back.
  redirect_port integer,
  state text,
  name text not null,
  address text not null,
  expires_at timestamptz not null,
  -- The member that has approved it, and the scope of the token.
  account text collate "C",
  member text collate "C",
  scope text,
  -- SHA-256 of the code that the redirect has.
  code_hash bytea,
  foreign key (account, member) references members (account, id)
);
create index command_logins_by_end on command_logins (expires_at);
