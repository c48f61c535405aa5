-- Records come to the tick as they are, not as texts in JSON.
drop function if exists tick(json, json, json, json);
drop function if exists tick_fresh(json, sessions);
drop function if exists tick_append(tick_record[], sessions, bigint);
drop function if exists tick_post(json, sessions, bigint);
drop function if exists tick_debit(text, text, numeric, text);
drop function if exists burn_lots(text, numeric);
drop type tick_record;

-- Ascending, so that the newest of a token comes at the end of its run: the other way each page was split
-- in the middle, and the index took twice the room. The id is no part of it: few charges of a token end
-- in one millisecond.
drop index charges_by_token;
create index charges_by_token on charges (token, to_at);
