-- A browser may be asked for several passkeys at once: each of its pages asks. They live for minutes, so none is kept.
drop table passkey_challenges;
create table passkey_challenges (
  challenge text collate "C" primary key,
  -- SHA-256 of the text in the browser's cookie.
  browser bytea not null,
  kind text not null check (kind in ('sign-up', 'sign-in', 'touch', 'passkey')),
  facts jsonb not null,
  expires_at timestamptz not null
);
create index passkey_challenges_by_end on passkey_challenges (expires_at);
