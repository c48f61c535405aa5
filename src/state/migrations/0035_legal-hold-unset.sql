-- Whether a legal hold was ever set: null while it was not. What is there already stays OFF.
alter table object_versions alter column legal_hold drop not null, alter column legal_hold drop default;
