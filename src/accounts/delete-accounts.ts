// The deletions that are due. Each product removes what it has of the account, in the order of the list; a part that is
// done is written down, so a run after a kill goes on with the next one. At the end the account's texts are erased.
import { messageOf } from '#base/errors.ts'
import type { TasksCore } from '#node/tasks-part.ts'
import type { State } from '#state/connect.ts'

type Deps = Pick<TasksCore, 'state' | 'log' | 'leaves'>
type Begun = { account: string; parts: readonly string[] }

/** Accounts of one run. */
const BATCH = 20
/** Failures in a row that raise an alarm. */
const FAILURES_TOLD = 5

export async function deleteAccounts(deps: Deps, signal: AbortSignal): Promise<void> {
  const { state, log } = deps
  await beginDue(state, signal)
  const { rows } = await state.query<Begun>(
    `select account, parts from account_deletions where begun_at is not null and done_at is null
     order by looked_at, begun_at limit $1`,
    [BATCH],
  )
  for (const begun of rows) {
    signal.throwIfAborted()
    await takeTurn(state, begun.account)
    try {
      await carryOn(deps, begun, signal)
    } catch (error) {
      if (signal.aborted) throw error
      log.error('A part of an account could not be deleted', { account: begun.account, error })
      await noteFailure(state, begun.account, messageOf(error))
    }
  }
}

/** Before the work: a deletion that takes all the time of a run is the last one of the next. */
const takeTurn = async (state: State, account: string): Promise<void> =>
  void (await state.query(
    'update account_deletions set looked_at = ledger_now() where account = $1',
    [account],
  ))

/** Each in a transaction of its own, as it locks its account. */
async function beginDue(state: State, signal: AbortSignal): Promise<void> {
  const { rows } = await state.query<{ account: string }>(
    'select account from account_deletions where begun_at is null and due_at <= ledger_now()',
  )
  for (const { account } of rows) {
    signal.throwIfAborted()
    await state.query('select begin_deletion($1)', [account])
  }
}

async function carryOn(
  { state, leaves }: Deps,
  { account, parts }: Begun,
  signal: AbortSignal,
): Promise<void> {
  for (const { name, leave } of leaves()) {
    if (parts.includes(name)) continue
    const waitsFor = await leave(account, signal)
    if (waitsFor !== undefined) return await note(state, account, `${name}: ${waitsFor}`)
    await state.query(
      `update account_deletions set parts = parts || $2::text, failures = 0, waits_for = null
       where account = $1`,
      [account, name],
    )
  }
  await state.query('select erase_account($1)', [account])
}

const note = async (state: State, account: string, waitsFor: string): Promise<void> =>
  void (await state.query(
    'update account_deletions set failures = 0, waits_for = $2 where account = $1',
    [account, waitsFor],
  ))

/** The details stay in the log of the node: an alarm names no file and no address. */
async function noteFailure(state: State, account: string, why: string): Promise<void> {
  await state.query(
    `with failed as (
       update account_deletions set failures = failures + 1, waits_for = $2 where account = $1
       returning account, failures
     ) select raise_alarm('account_deletion_failing', jsonb_build_object('account', account, 'failed', failures), account)
     from failed where failures >= $3`,
    [account, why, FAILURES_TOLD],
  )
}
