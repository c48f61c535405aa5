-- Payments and refunds whose calls to the processor fail, and since when.
create table payment_failing_calls (
  id text collate "C" primary key,
  since timestamptz not null
);
