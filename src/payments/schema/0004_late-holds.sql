-- A hold may be captured after another one has begun, as processors tell late. begin_payment() keeps holds apart.
drop index payments_one_hold;
create index payments_holds on payments (account) where kind = 'hold';
