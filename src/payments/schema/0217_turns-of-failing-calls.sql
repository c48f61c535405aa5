-- When the last call failed: the payments and refunds that failed last come last.
alter table payment_failing_calls add column failed_at timestamptz;
