// The live stream in a gateway: what an account uses now, and the states that have changed.
import type { GatewayCore, GatewayPart, GatewayProduct, LiveStates } from '#http/gateway-part.ts'
import { createLiveGet } from './live-get.ts'
import { createReadAccounts } from './read-accounts.ts'
import { createWatcher } from './watcher.ts'

const LISTED_MAX = 100
/** The readings of all accounts are one after the other. */
const CONNECTIONS = 1

/** The states of the tables that no product owns. */
export const CORE_STATES: LiveStates = {
  resources: `select json_agg(json_build_object('id', r.id, 'kind', r.kind, 'name', r.name, 'status', r.actual,
      'wanted', r.wanted, 'reason', r.reason, 'awake', exists (
        select from resource_intervals i where i.resource = r.id and i.to_at is null)) order by r.id)
    from (select * from resources where account = a.id and desired <> 'deleted' order by id limit ${LISTED_MAX}) r`,
  budgets: `select json_agg(json_build_object('id', b.id, 'budget_nj', b.nj_per_day::text,
      'used_nj', budget_used_nj(b.id)::text) order by b.id)
    from (select * from shown_budgets(a.id) order by id limit ${LISTED_MAX}) b`,
}

export const LIVE_GATEWAY: GatewayProduct<object> = { name: 'live', open }

function open(core: GatewayCore): GatewayPart {
  // The products that open after this one have their states then too.
  const read = () =>
    createReadAccounts({
      state: core.readers,
      // Planned for its values, each statement of a reading cost four to ten times as much as its rows.
      frequent: core.connectPipeline(CONNECTIONS, { plansOnce: true }),
      meter: core.meter,
      states: core.liveStates(),
    })
  const watcher = createWatcher({ ...core, read, requestsOf: core.counts.accounts.requestsOf })
  return {
    live: CORE_STATES,
    endpoints: { 'live.get': { handle: createLiveGet({ ...core, watcher }) } },
    stopping: watcher.stop,
  }
}
