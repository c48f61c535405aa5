-- Sessions of browsers. A session is a token whose text is in a cookie: it acts, is charged, is recorded and ends as every
-- token, and is no credential outside of the portal.
alter table tokens add column is_session boolean not null default false;
alter table accounts add column name text;

create table browser_sessions (
  token text collate "C" primary key references tokens (id),
  -- The session ends then, however much it is used.
  ends_at timestamptz not null,
  -- Until then its member counts as present: a passkey was used for this session a moment ago.
  touched_until timestamptz not null,
  -- It was opened by a recovery code: it may add a passkey, and nothing else before that.
  is_limited boolean not null,
  -- The passkey that opened the session, which ends with it.
  passkey text collate "C",
  -- The program that opened it, in its own words.
  client text not null
);
create index browser_sessions_by_end on browser_sessions (ends_at);
