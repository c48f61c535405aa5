-- The processor's page on which a card is given, and cards that the processor got on one after they were removed here.
alter table payment_methods add column page text collate "C", add column to_forget boolean not null default false;
create index payment_methods_to_forget on payment_methods (processor) where to_forget;
