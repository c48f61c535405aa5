-- The bucket of a token's requests in a minute: the id of the first token that had the limit, as of its energy budget. A token
-- that takes the limits of another one shares its bucket.
alter table tokens add column rate_key text collate "C";
