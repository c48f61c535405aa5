// The operator's search for one request: the reason of its refusal at a gateway, and its charge in the ledger.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import type { NODE_CONTROL } from '#contract/node/control.ts'
import type { ControlHandlers, JsonSendable } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { entryOf, fault } from '#contract/errors.ts'
import { REFUSALS_PAGE, type Refusal } from '#http/refusals.ts'
import { findBundled } from '#ledger/bundles/bundled-charge.ts'
import { ask } from '#node/cell-specs.ts'
import type { State } from '#state/connect.ts'

const ASK_TIMEOUT_MS = 2000

type Deps = {
  readonly state: Pick<State, 'query'>
  readonly cells: Pick<Cells, 'list'>
  readonly log: Logger
}
type FoundRequest = JsonSendable<ControlAnswer<'request.find'>>

export const requestHandlers = (deps: Deps) =>
  ({
    'request.find': async ({ id }) => {
      const body = id.slice(id.indexOf('_') + 1)
      const request = `req_${body}`
      const [refusal, { charge, ledger_fault }] = await Promise.all([
        refusalOf(deps, request),
        chargeOf(deps.state, `rcpt_${body}`),
      ])
      if (refusal === null && charge === null && ledger_fault === null)
        throw fault(
          'not_found',
          `Could not find the request: no gateway remembers a refusal of ${request}, and no account was charged for it`,
        )
      return { request, refusal, charge, ledger_fault }
    },
  }) satisfies Partial<ControlHandlers<typeof NODE_CONTROL>>

/** The refusal in the gateway that made it. A gateway that does not answer is logged and left out. */
async function refusalOf({ cells, log }: Deps, request: string): Promise<FoundRequest['refusal']> {
  const gateways = cells.list().filter(({ spec }) => spec.name.startsWith('gw-'))
  const found = await Promise.all(
    gateways.map(async ({ socket, spec }) => {
      const asked = ask(socket, REFUSALS_PAGE, AbortSignal.timeout(ASK_TIMEOUT_MS))
      const list = await asked.catch((error: unknown) => {
        log.warn('A gateway did not list its refusals', { error: messageOf(error) })
        return []
      })
      const refusal = (list as Refusal[]).find((one) => one.request === request)
      if (refusal === undefined) return []
      const { request: _, ...facts } = refusal
      return [{ gateway: spec.name, ...facts, help: entryOf(refusal)?.help ?? null }]
    }),
  )
  return found.flat()[0] ?? null
}

/** A refusal is found while the ledger does not answer, which may be its cause. */
async function chargeOf(
  state: Pick<State, 'query'>,
  receipt: string,
): Promise<Pick<FoundRequest, 'charge' | 'ledger_fault'>> {
  const asked = state.query<NonNullable<ControlAnswer<'request.find'>['charge']>>(
    `select id as receipt, account, token, operation, model, status, to_at as at, energy_nj::text, charge_pusd::text,
       convert_from(bytes, 'UTF8')::json ->> 'unit' as unit
     from charges where id = $1`,
    [receipt],
  )
  return await asked
    .then(async ({ rows }) => rows[0] ?? (await bundledCharge(state, receipt)))
    .then(
      (charge) => ({ charge, ledger_fault: null }),
      (error: unknown) => ({ charge: null, ledger_fault: messageOf(error) }),
    )
}

async function bundledCharge(
  state: Pick<State, 'query'>,
  receipt: string,
): Promise<FoundRequest['charge']> {
  const charge = await findBundled(state, receipt)
  if (charge === undefined) return null
  return {
    receipt,
    account: charge.account,
    token: charge.value('token') ?? null,
    operation: charge.operation,
    model: charge.value('model') ?? null,
    status: Number(charge.value('status')),
    at: charge.at,
    energy_nj: charge.energyNj.toString(),
    charge_pusd: charge.chargePusd.toString(),
    unit: charge.value('unit') === 'tUSD' ? 'tUSD' : 'USD',
  }
}
