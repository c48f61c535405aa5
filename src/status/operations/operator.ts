// /v1/operator/…: the node as its operator sees it on the portal. Nothing here controls the agent: a gateway can change
// rows of the state, as it does for every caller, and nothing else.
import { present } from '#base/errors.ts'
import {
  parseAccountSuspension,
  parseIncidentOpening,
  parseIncidentTelling,
  parseOperatorLogQuery,
  type AccountSuspension,
  type IncidentOpening,
  type IncidentTelling,
  type OperatorNode,
} from '#contract/operator/operator.ts'
import type { OPERATOR } from '#contract/operator/operations.ts'
import type { Endpoint } from '#http/protocol-handler.ts'
import { known, type OperationCall, type Handler, type Reply } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { demandOperator } from '#identity/operator-account.ts'
import { changeSuspension } from '#identity/suspensions.ts'
import { callerOf } from '#identity/principal.ts'
import { acknowledgeAlarm } from '#node/control/alarms.ts'
import type { State } from '#state/connect.ts'
import { createIncidents, type Incidents, type RecordChange } from '#status/incidents.ts'
import { listAccounts } from '#status/operator/list-accounts.ts'
import { listAlarms } from '#status/operator/alarms.ts'
import { createChargedReader } from '#status/operator/charged-sums.ts'
import { readBooks } from '#status/operator/read-books.ts'
import { logOfLines } from '#status/operator/log-lines.ts'
import { readLogTail, readNodeFacts, type FactsDeps } from '#status/operator/read-facts.ts'

type OperatorName = keyof (typeof OPERATOR)['operations']
type Deps = FactsDeps & { readonly state: State; readonly region: string }
/** Resolves with the answer, for JSON. */
type OperatorRead<Body = unknown> = (call: OperationCall<Body>) => Promise<object>

/** All of them, each for the operator's account alone. */
export function operatorEndpoints(deps: Deps): Record<OperatorName, Endpoint> {
  const { state } = deps
  const incidents = createIncidents(state, deps.region)
  const readCharged = createChargedReader(state)
  const only = <Body>(look: OperatorRead<Body>): Handler<Body> => {
    return async (call): Promise<Reply> => {
      await demandOperator(state, callerOf(call))
      return known(await look(call))
    }
  }
  return {
    'operator-node.get': {
      handle: only(async ({ signal }): Promise<OperatorNode> => ({
        object: 'operator_node',
        facts: await readNodeFacts(deps, signal),
      })),
    },
    'operator-books.get': { handle: only(() => readBooks(state, readCharged)) },
    'operator-log.get': {
      handle: only(async ({ query, signal }) => {
        const wanted = parseOperatorLogQuery(query())
        return logOfLines((await readLogTail(deps, signal))?.lines ?? null, wanted)
      }),
    },
    'operator-account.list': { handle: only(({ query }) => listAccounts(state, query())) },
    ...suspensionEndpoints(state, only),
    'operator-alarm.list': { handle: only(({ query }) => listAlarms(state, query())) },
    'operator-alarm.acknowledge': { handle: only((call) => acknowledge(state, call)) },
    ...incidentEndpoints(incidents, only),
  }
}

type Only = <Body>(look: OperatorRead<Body>) => Handler<Body>

const suspensionEndpoints = (state: State, only: Only) => {
  const change = async (call: OperationCall, reason: string | undefined, action: OperatorName) => {
    const account = present(call.parameters['account'], 'the path has the account')
    const details = reason === undefined ? {} : { reason }
    await changeSuspension(state, { account, reason }, call.signal, (transaction) =>
      recordAct(transaction, call, { action, target: account, details }),
    )
    return { id: account, object: 'account', suspended_for: reason ?? null }
  }
  return {
    'operator-account.suspend': {
      parse: parseAccountSuspension,
      handle: only((call: OperationCall<AccountSuspension>) =>
        change(call, call.body.reason, 'operator-account.suspend'),
      ),
    },
    'operator-account.resume': {
      handle: only((call) => change(call, undefined, 'operator-account.resume')),
    },
  }
}

const incidentEndpoints = (incidents: Incidents, only: Only) => ({
  'operator-incident.list': {
    handle: only(async () => ({ object: 'list', data: await incidents.list() })),
  },
  'operator-incident.open': {
    parse: parseIncidentOpening,
    handle: only((call: OperationCall<IncidentOpening>) =>
      incidents.open(call.body, recordOf(call, 'operator-incident.open')),
    ),
  },
  'operator-incident.update': {
    parse: parseIncidentTelling,
    handle: only((call: OperationCall<IncidentTelling>) =>
      incidents.update(tellingOf(call), recordOf(call, 'operator-incident.update')),
    ),
  },
  'operator-incident.close': {
    parse: parseIncidentTelling,
    handle: only((call: OperationCall<IncidentTelling>) =>
      incidents.close(tellingOf(call), recordOf(call, 'operator-incident.close')),
    ),
  },
})

const tellingOf = ({ body, parameters }: OperationCall<IncidentTelling>) => ({
  ...body,
  incident: present(parameters['incident'], 'the path has the incident'),
})

/** The texts are public, so the audit log may have them. */
const recordOf =
  (call: OperationCall<IncidentOpening | IncidentTelling>, action: OperatorName): RecordChange =>
  async (transaction, target) => {
    const { preview: _, ...details } = call.body
    await recordAct(transaction, call, { action, target, details })
  }

async function acknowledge(state: State, call: OperationCall): Promise<object> {
  const id = present(call.parameters['alarm'], 'the path has the alarm')
  return await state.transaction(async (transaction) => {
    const made = await acknowledgeAlarm(transaction, id)
    const act = { action: 'operator-alarm.acknowledge', target: id, details: made }
    await recordAct(transaction, call, act)
    return made
  })
}
