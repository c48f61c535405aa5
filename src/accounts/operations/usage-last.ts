// GET /v1/usage/last: the caller's last request, by token. It waits until every gateway has posted what it answered
// before this call arrived, so that the record is the one the caller expects. The last one is the last that the ledger
// got: the clock may have been set back.
import { findBundled, bundledBelow, type BundledCharge } from '#ledger/bundles/bundled-charge.ts'
import type { Posted } from '#ledger/posted.ts'
import { chargeCarbon, chargeEnergy, parseCharge } from '#contract/ledger/charge.ts'
import { printJoules, printMilligrams } from '#base/units.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import { fault } from '#contract/errors.ts'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

const REMEMBERED = (Object.keys(OPERATIONS) as OperationName[]).filter(
  (name) => OPERATIONS[name].remembered,
)

// A process posts in the order of its requests, whatever the clock says; of two gateways the one that ticks first
// may have answered last. So the time decides among the newest of each process. It counts only within the lag that
// a gateway may have: a clock that was set back by more decides nothing.
const LAG_S = 5
const NEWEST = 100
const RECENT = `
  select account_seq::text as number, split_part(session, '.', 1) as process, to_at as at, id from charges
  where token = $1 and operation = any ($2) order by account_seq desc limit ${NEWEST}`

type Recent = {
  readonly number: string
  readonly process: string
  readonly at: Date
  readonly id: string
}

export function createUsageLast(deps: { state: Queryable; posted: Posted }): Handler {
  return async ({ caller, signal }) => {
    const { account, token } = callerOf({ caller })
    await deps.posted(signal)
    const id = lastOf(await recentOf(deps.state, account, token))
    const bytes = id === undefined ? undefined : await bytesOf(deps.state, account, id)
    if (bytes === undefined)
      throw fault('not_found', 'Could not find a last request: this token has made none')
    const charge = parseCharge(bytes)
    const [operator = '', region = ''] = charge.routed_to.split('/')
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          request_id: charge.request,
          receipt_id: charge.id,
          operation: charge.operation,
          model: charge.model ?? null,
          energy_j: rawNumber(printJoules(chargeEnergy(charge))),
          carbon_mg: rawNumber(printMilligrams(chargeCarbon(charge))),
          energy_nj: charge.energy_nj,
          charge_pusd: charge.charge_pusd,
          unit: charge.unit,
          operator,
          region,
        }),
    }
  }
}

/** The last remembered requests of a token, those posted last first. */
async function recentOf(state: Queryable, account: string, token: string): Promise<Recent[]> {
  const { rows } = await state.query<Recent>(RECENT, [token, REMEMBERED])
  if (rows.length === NEWEST) return rows
  const bundled = await state.query<{ last: string }>(
    'select account_seq as last from bundled_tokens where token = $1',
    [token],
  )
  const last = bundled.rows[0]?.last
  if (last === undefined) return rows
  const oldest = rows.at(-1)?.number
  // Charges that were bundled since the rows were read are not taken twice.
  const below =
    oldest !== undefined && BigInt(oldest) <= BigInt(last) ? BigInt(oldest) : BigInt(last) + 1n
  const older = await bundledBelow(
    state,
    { account, token, below },
    {
      limit: NEWEST - rows.length,
      isWanted: (charge) =>
        charge.value('token') === token && REMEMBERED.some((name) => name === charge.operation),
    },
  )
  return [...rows, ...older.map(recentCharge)]
}

const recentCharge = (charge: BundledCharge): Recent => ({
  number: charge.accountSeq.toString(),
  process: charge.value('session')?.split('.')[0] ?? '',
  at: charge.at,
  id: charge.id,
})

/** The id of the last request, as this file's head says. */
function lastOf(recent: readonly Recent[]): string | undefined {
  const [last] = recent
  if (last === undefined) return undefined
  const ofProcess = recent.filter(
    ({ process }, nth) => recent.findIndex((other) => other.process === process) === nth,
  )
  const latest = last.at.getTime() + LAG_S * 1000
  return ofProcess
    .filter(({ at }) => at >= last.at && at.getTime() <= latest)
    .toSorted((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1))[0]?.id
}

async function bytesOf(state: Queryable, account: string, id: string): Promise<Buffer | undefined> {
  const { rows } = await state.query<{ bytes: Buffer }>('select bytes from charges where id = $1', [
    id,
  ])
  return rows[0]?.bytes ?? (await findBundled(state, id, [account]))?.bytes
}
