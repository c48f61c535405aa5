-- Events of a processor that could not be applied. Each is asked for again by itself, so that the reading goes on past it.
create table payment_failing_events (
  processor text not null,
  id text collate "C" not null,
  -- By the processor's clock.
  at timestamptz not null,
  since timestamptz not null,
  tried_at timestamptz not null,
  primary key (processor, id)
);
