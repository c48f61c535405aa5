-- Tokens in addresses: whether an account refuses to have them there, and when one was seen last.

alter table accounts add column refuse_token_presign boolean not null default false;
alter table tokens add column exposed_at timestamptz;
