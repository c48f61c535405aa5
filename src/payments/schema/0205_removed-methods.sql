-- When its owner removed a way to pay. The processor may tell of that before the row of the removal is written.
alter table payment_methods add column removed_at timestamptz;
