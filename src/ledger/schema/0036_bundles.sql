-- Old charges are in bundles, and old windows are rolled up: before, both were called packs, as evidence packs are.
alter table charge_packs rename to charge_bundles;
alter table packed_accounts rename to bundled_accounts;
alter table bundled_accounts rename column packs to bundles;
alter table packed_tokens rename to bundled_tokens;
alter table packed_resource_hours rename to bundled_resource_hours;
alter table pack_round rename to bundle_round;
alter index charge_packs_by_time rename to charge_bundles_by_time;
alter index charge_packs_by_id rename to charge_bundles_by_id;
alter index charge_packs_by_leaf rename to charge_bundles_by_leaf;
alter trigger charges_go_into_packs on charges rename to charges_go_into_bundles;
alter trigger charge_packs_append_only on charge_bundles rename to charge_bundles_append_only;
alter table packed_windows rename to window_rollups;
alter index packed_windows_by_meter rename to window_rollups_by_meter;
alter trigger packed_windows_append_only on window_rollups rename to window_rollups_append_only;
alter trigger packed_windows_forgotten_by_upkeep on window_rollups rename to window_rollups_forgotten_by_upkeep;
drop function if exists packable_charges(text, timestamptz, integer), move_into_pack(text, bigint, bigint),
  pack_faults(), pack_windows(bigint, integer);

-- A charge goes only when a bundle has its number.
alter function refuse_unless_packed() rename to refuse_unless_bundled;
create or replace function refuse_unless_bundled() returns trigger language plpgsql as $$
begin
  if exists (select from gone where not exists (select from charge_bundles b
      where b.account = gone.account and gone.account_seq between b.first_seq and b.last_seq)) then
    raise exception 'charges is append-only' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
