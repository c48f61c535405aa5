-- The agent holds energy before a server starts, which answers it.
drop function if exists account_can_pay(text);
