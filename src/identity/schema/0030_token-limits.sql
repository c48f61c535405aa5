-- The limits of a token: its requests in a minute, at each gateway, and the id of its energy budget. A token that replaces
-- another one has the same budget, so that a rotation renews nothing. The id is that of the first token that had the budget.
alter table tokens add column requests_per_minute integer check (requests_per_minute > 0);
alter table tokens add column budget text collate "C";
