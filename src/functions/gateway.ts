// Functions in a gateway: the API that deploys, lists and deletes them. No request to a function passes here.
import {
  parseFunctionChange,
  parseFunctionDiscardRequest,
  parseFunctionReplayRequest,
  parseFunctionRequest,
  parseRollbackRequest,
} from '#contract/functions/functions.ts'
import { recordsOf } from '#http/account-records.ts'
import { resourceLookup } from '#http/find-named.ts'
import { createIntervalList } from '#http/interval-list.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import {
  createResourceChange,
  createResourceDelete,
  createResourceDeploy,
  createResourceGet,
  createResourceList,
} from '#http/resource-operations.ts'
import { SHOWN_FUNCTIONS } from './find-function.ts'
import { deployFunction } from './operations/function-deploy.ts'
import {
  createFunctionDiscard,
  createFunctionFailures,
  createFunctionReplay,
} from './operations/function-failures.ts'
import { createFunctionEnergy } from './operations/function-energy.ts'
import { createFunctionLogs } from './operations/function-logs.ts'
import { rollBackFunction } from './operations/function-rollback.ts'
import { updateFunction } from './operations/function-update.ts'
import type { FunctionGatewaySettings } from './settings.ts'

/** For the export: each function as the version that answers has it. */
export const FUNCTIONS_OF = `select n.id as place, n.id, n.name, n.region, v.route, n.hosts, n.actual as status, n.version, n.live_version,
    n.created_at, v.runtime, v.memory_bytes::text, v.timeout_s, v.env_names, v.buckets, v.schedule,
    coalesce(v.concurrency, v.default_concurrency) as concurrency, v.file, v.source
  from resources n
    join function_versions v on v.function = n.id and v.version = coalesce(n.live_version, n.version)
  where n.account = $1 and n.desired <> 'deleted' and n.id > $2 order by n.id limit $3`

export const FUNCTIONS_GATEWAY: GatewayProduct<FunctionGatewaySettings> = {
  name: 'functions',
  open,
}

function open(
  { readers: state, clock }: GatewayCore,
  settings: FunctionGatewaySettings,
): GatewayPart {
  const deps = { state, settings }
  return {
    endpoints: {
      'function.deploy': {
        parse: parseFunctionRequest,
        handle: createResourceDeploy(SHOWN_FUNCTIONS, deps, deployFunction),
      },
      'function.list': { handle: createResourceList(SHOWN_FUNCTIONS, deps) },
      'function.get': { handle: createResourceGet(SHOWN_FUNCTIONS, deps) },
      'function.logs': { handle: createFunctionLogs({ state }) },
      'function.energy': { handle: createFunctionEnergy({ state, now: () => clock.wallMs() }) },
      'function.intervals': {
        handle: createIntervalList(SHOWN_FUNCTIONS, { state, now: () => clock.wallMs() }),
      },
      'function.failures': { handle: createFunctionFailures({ state }) },
      'function.replay': {
        parse: parseFunctionReplayRequest,
        handle: createFunctionReplay({ state }),
      },
      'function.discard': {
        parse: parseFunctionDiscardRequest,
        handle: createFunctionDiscard({ state }),
      },
      'function.update': {
        parse: parseFunctionChange,
        handle: createResourceChange(SHOWN_FUNCTIONS, deps, (transaction, call, asked) =>
          updateFunction(transaction, call, { ...asked, ownHosts: settings.ownHosts }),
        ),
      },
      'function.rollback': {
        parse: parseRollbackRequest,
        handle: createResourceChange(SHOWN_FUNCTIONS, deps, rollBackFunction),
      },
      'function.delete': { handle: createResourceDelete(SHOWN_FUNCTIONS, deps) },
    },
    lookups: { fn: resourceLookup(state, 'function') },
    account: { records: { function: recordsOf(state, FUNCTIONS_OF) } },
  }
}
