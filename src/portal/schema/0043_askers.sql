-- A network, or the session of a member, that keeps a passkey or a login waiting. Each has a share of its own.
alter table passkey_challenges add column asker text collate "C" not null default '';
alter table passkey_challenges alter column asker drop default;
create index passkey_challenges_by_asker on passkey_challenges (asker);
alter table command_logins add column asker text collate "C" not null default '';
alter table command_logins alter column asker drop default;
create index command_logins_by_asker on command_logins (asker);
