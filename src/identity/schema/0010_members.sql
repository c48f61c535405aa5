-- Members of accounts: people with a role. Each account has an active owner at all times.

create table members (
  id text collate "C" primary key,
  account text collate "C" not null references accounts (id),
  name text not null,
  contact text,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  state text not null check (state in ('invited', 'active', 'removed')),
  created_at timestamptz not null default now(),
  -- SHA-256 of the code of the newest invitation, which is kept: the refusal of a code that has ended says why.
  invitation_hash bytea unique,
  invitation_expires_at timestamptz,
  joined_at timestamptz,
  removed_at timestamptz,
  unique (account, id)
);

insert into members (id, account, name, role, state, created_at, joined_at)
select 'mem_' || substr(id, 6), id, 'owner', 'owner', 'active', created_at, created_at
from accounts where id <> 'nobody';

-- Each token is a member's; those of before are the first owner's.
alter table tokens add column member text collate "C";
update tokens set member = 'mem_' || substr(account, 6);
alter table tokens alter column member set not null,
  add foreign key (account, member) references members (account, id);
create index tokens_by_member on tokens (member);
