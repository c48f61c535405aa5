-- Acts that no person asks for: the service does them because of a rule or a deletion that a member has set. No
-- operation of the operator has these two names.
alter table audit_entries add column by_system boolean not null default false;
update audit_entries set by_system = true where token is null and action in ('topup.create', 'topup.refund');
alter table audit_entries add constraint audit_entries_by_system check (not by_system or token is null);
