-- The last request of a token is the one that was posted last, whatever the clock said: after one that was set
-- back the newest time was an old charge's. By the numbers of its account, not by leaves: for those there is an
-- index of all accounts, and of a token that has rested all newer charges were read by it. Ascending, as 0006 says.
drop index charges_by_token;
create index charges_by_token on charges (token, account_seq);
