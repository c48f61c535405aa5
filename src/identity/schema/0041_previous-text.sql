-- A use of a passkey gives a session another text. The one before stays known, without the rights of that use, until the new
-- one is in use. So requests beside the change go on, and a browser that never got the new text stays signed in.
alter table browser_sessions
  -- SHA-256 of the text before, where that may still be in use.
  add column previous_hash bytea unique,
  -- Null: the new text was not used yet.
  add column previous_until timestamptz;
