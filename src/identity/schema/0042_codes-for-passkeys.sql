-- The code of a link by which a member adds a passkey gives no token.
alter table members add column invitation_for text not null default 'any' check (invitation_for in ('any', 'passkey'));
