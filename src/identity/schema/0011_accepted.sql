-- An invitation without a time has been accepted: an active member may get another code, for another first token.

update members set invitation_expires_at = null where joined_at is not null;
