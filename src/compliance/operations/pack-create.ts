// POST /v1/compliance/packs: asks for a pack, once the account can pay the most that it may cost.
import { newId } from '#base/ids.ts'
import { nj, priceOf, type Nj } from '#base/units.ts'
import { PACK_DAYS_MAX, PACKS_OPEN_MAX, type PackRequest } from '#contract/compliance/compliance.ts'
import { fault } from '#contract/errors.ts'
import { once } from '#http/once.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { sumUsage } from '#ledger/usage.ts'
import { ceilingOfPack } from '#compliance/build/ceiling.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'
import { hasSqlState } from '#state/sql-states.ts'
import { findPack } from '#compliance/find-pack.ts'

export type PackDeps = {
  readonly state: State
  readonly keptDays: number
  readonly nowMs: () => number
}

const DAY_MS = 86_400_000

export const createPackCreate =
  (deps: PackDeps): Handler<PackRequest> =>
  async (call) => {
    const { spend, body } = call
    const { state, keptDays } = deps
    const caller = callerOf(call)
    const { account } = caller
    const reply = await once(call, state, async () => {
      const span = readSpan(body, deps.nowMs())
      const ceilingNj = await ceilingOf(state, account, span)
      // Held until this answer: an account that cannot pay the ceiling of the work is refused now.
      await spend.admit(caller, 'pack.create', ceilingNj, ceilingNj)
      const id = newId('pack')
      const ceilingPusd = priceOf(ceilingNj, await priceNow(state))
      const row = [id, account, span.from, span.to, ceilingNj, ceilingPusd, PACKS_OPEN_MAX]
      return async (transaction) => {
        await transaction
          .query('select add_pack($1, $2, $3, $4, $5, $6, $7)', row)
          .catch((error: unknown) => {
            throw refusalOf(error)
          })
        await recordAct(transaction, call, { action: 'pack.create', target: id, details: body })
        return await findPack(transaction, { account, keptDays }, id)
      }
    })
    return { kind: 'known', status: 202, body: () => reply }
  }

function refusalOf(error: unknown): unknown {
  if (hasSqlState(error, 'accountDeleting'))
    return fault(
      'account_deleting',
      'Could not make the evidence pack: the account is being deleted',
    )
  if (!hasSqlState(error, 'tooManyPacks')) return error
  return fault(
    'too_many_packs',
    `Could not make the evidence pack: an account has at most ${PACKS_OPEN_MAX} that wait`,
  )
}

type PackSpan = { readonly from: Date; readonly to: Date }

function readSpan(body: PackRequest, nowMs: number): PackSpan {
  const span = { from: new Date(body.from), to: new Date(body.to) }
  const ms = span.to.getTime() - span.from.getTime()
  if (ms <= 0) throw wrong('to', 'it is not after "from"')
  if (ms > PACK_DAYS_MAX * DAY_MS) throw wrong('to', `it is more than ${PACK_DAYS_MAX} days later`)
  if (span.to.getTime() > nowMs) throw wrong('to', 'it is in the future')
  return span
}

async function ceilingOf(state: State, account: string, span: PackSpan): Promise<Nj> {
  const rows = await inSnapshot(state, (snapshot) =>
    sumUsage(snapshot, { account, ...span }, "''", { offset: 0, limit: 1 }),
  )
  return nj(ceilingOfPack(BigInt(rows[0]?.requests ?? 0)))
}

async function priceNow(state: State): Promise<bigint> {
  const { rows } = await state.query<{ price: string }>(
    'select pusd_per_j::text as price from current_price()',
  )
  return BigInt(rows[0]?.price ?? 0)
}

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not make an evidence pack of the time: ${why}`, { param })
