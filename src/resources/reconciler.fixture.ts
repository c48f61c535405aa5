// Resources of two accounts on a state of its own, and a reconciler of them.
import assert from 'node:assert/strict'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { reconcile, type ReconcilerDeps } from './reconciler.ts'

export const ACCOUNT = 'acct_a'

export const OTHER = 'acct_b'

export async function withState(work: (state: State) => Promise<void>): Promise<void> {
  await using url = await openTestUrl()
  await using state = await openLedgerState(url.of, 3)
  for (const id of [ACCOUNT, OTHER]) await addTestAccount(state, { id, env: 'test', lowWater: 0n })
  await work(state)
}

export const add = async (state: State, name: string, most = 9, account = ACCOUNT) =>
  (
    await state.query<{ id: string | null }>(
      "select add_resource('database', $1, $2, 'local', $3) as id",
      [account, name, most],
    )
  ).rows[0]?.id
export const rowOf = async (state: State, id: unknown) =>
  (
    await state.query<{ actual: string; reason: string | null }>(
      'select actual, reason from resources where id = $1',
      [id],
    )
  ).rows[0]

/** Runs a reconciler during the work, which can wait for the row of a resource. */
export async function reconciling(
  state: State,
  deps: Partial<ReconcilerDeps>,
  work: (
    reaches: (id: unknown, row: { actual?: string; reason?: RegExp }) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const nothing = async () => undefined
  const log = { ...quiet, error: () => undefined }
  const own = { state, log, kind: 'database', deploy: nothing, suspend: nothing, remove: nothing }
  const running = reconcile({ ...own, ...deps }, ending.signal)
  const reaches: Parameters<typeof work>[0] = async (id, { actual, reason }) => {
    const lastMs = performance.now() + 20_000
    for (;;) {
      const row = await rowOf(state, id)
      const isReached = actual === undefined || row?.actual === actual
      if (isReached && (reason === undefined || reason.test(String(row?.reason)))) return
      assert.ok(performance.now() < lastMs, `${actual} ${reason}: ${JSON.stringify(row)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  try {
    await work(reaches)
  } finally {
    ending.abort()
    await running
  }
}
