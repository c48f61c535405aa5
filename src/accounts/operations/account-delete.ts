// DELETE /v1/account and POST /v1/account/restore: the account is deleted after some days, in which its owner can take
// that back.
import { fault } from '#contract/errors.ts'
import type { AccountDeletion, Obstacle } from '#contract/accounts/account-life.ts'
import type { AccountPart } from '#http/gateway-part.ts'
import type { OperationCall, Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { askingMember, demandRole } from '#identity/members.ts'
import { callerOf, demandOwner } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { Queryable, State } from '#state/connect.ts'

const DAY_MS = 86_400_000
/** Obstacles that a refusal names. */
const NAMED_MAX = 20

type Deps = {
  readonly state: State
  /** In which the deletion can be taken back. */
  readonly days: number
  readonly parts: () => readonly AccountPart[]
}

export const createAccountDelete =
  ({ state, days, parts }: Deps): Handler<AccountDeletion> =>
  async (call) => {
    const { body, signal } = call
    const caller = callerOf(call)
    demandOwner(caller, 'account.delete')
    const { account } = caller
    if (body.confirm !== account) throw wrong('confirm', `it is not "${account}"`)
    if (body.at_once && caller.env !== 'test')
      throw wrong('at_once', 'the account is not a test account')
    const waitMs = body.at_once ? 0 : days * DAY_MS
    await demandFree(parts(), account, new Date(Date.now() + waitMs))
    const epoch = await state.transaction(async (transaction) => {
      await demandOwnerNow(transaction, call, 'delete the account')
      const details = { at_once: body.at_once }
      await recordAct(transaction, call, { action: 'account.delete', target: account, details })
      await transaction.query("select hold_resources($1, 'deleting')", [account])
      // It writes an event, whose lock a tick waits for: last.
      const { rows } = await transaction.query<{ epoch: string | null }>(
        "select ask_deletion($1, $2 * interval '1 ms') as epoch",
        [account, waitMs],
      )
      const asked = rows[0]?.epoch ?? undefined
      if (asked === undefined)
        throw fault('account_deleting', 'Could not delete the account: it is being deleted')
      return asked
    })
    await untilHeard(state, epoch, signal)
    const reply = await statusOf(state, account)
    return { kind: 'known', status: 202, body: () => reply }
  }

export const createAccountRestore =
  ({ state }: Pick<Deps, 'state'>): Handler =>
  async (call) => {
    const { signal } = call
    const caller = callerOf(call)
    demandOwner(caller, 'account.restore')
    const { account } = caller
    const epoch = await state.transaction(async (transaction) => {
      await demandOwnerNow(transaction, call, 'restore the account')
      await recordAct(transaction, call, { action: 'account.restore', target: account })
      await transaction.query("select release_resources($1, 'deleting')", [account])
      const { rows } = await transaction.query<{ epoch: string | null }>(
        'select restore_account($1) as epoch',
        [account],
      )
      const restored = rows[0]?.epoch ?? undefined
      if (restored === undefined)
        throw fault('account_not_deleting', 'Could not restore the account')
      return restored
    })
    await untilHeard(state, epoch, signal)
    const reply = await statusOf(state, account)
    return { kind: 'known', status: 200, body: () => reply }
  }

/** Locks the account. A gateway may not have heard yet that the member is no owner any more. */
const demandOwnerNow = async (
  transaction: Queryable,
  call: OperationCall,
  what: string,
): Promise<void> => demandRole(await askingMember(transaction, call), ['owner'], what)

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not delete the account: ${param}: ${why}`, { param })

/** Throws account_locked with the obstacles to the deletion. */
async function demandFree(parts: readonly AccountPart[], account: string, at: Date): Promise<void> {
  const found: Obstacle[] = []
  for (const part of parts) found.push(...((await part.obstacles?.(account, at)) ?? []))
  if (found.length === 0) return
  const named = found.slice(0, NAMED_MAX).map(({ resource, reason }) => `${resource}: ${reason}`)
  throw fault('account_locked', `Could not delete the account: ${named.join('; ')}`, {
    details: { obstacles: named.join('; '), obstacles_count: found.length },
  })
}

async function statusOf(state: Queryable, account: string) {
  const { rows } = await state.query<{ due_at: Date }>(
    'select due_at from account_deletions where account = $1',
    [account],
  )
  const dueAt = rows[0]?.due_at.toISOString() ?? null
  return {
    id: account,
    object: 'account',
    status: dueAt === null ? 'active' : 'deleting',
    deletes_at: dueAt,
  }
}
