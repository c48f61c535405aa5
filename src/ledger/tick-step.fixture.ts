// A step of a history on the ledger: it runs on the model and on the real ledger, which must answer alike.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { timestamp } from '#base/clock.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { Books } from './reference/books.ts'
import type { TickRecord } from './tick.ts'

export const PROCESSES = ['gw-1', 'gw-2', 'agent']
export const ACCOUNTS = ['acct_free', 'acct_live', 'acct_test']

/** Records that one process has sent under its session. */
export type Side = { session: string; seq: bigint; number: bigint; sent: TickRecord[] }
export type World = { books: Books; nowMs: number; sides: Map<string, Side>; pendings: number }
export type Real = { state: State; check(world: World): Promise<void> }
export type LedgerStep = fc.AsyncCommand<World, Real>

export const setNow = (world: World, { state }: Real) =>
  state.query("select set_config('ergon.now', $1, false)", [timestamp(world.nowMs)])

/** A step: `model` and `real` must give the same, or refuse with the same code. */
export function step<T>(
  name: string,
  argument: T,
  acts: {
    model: (world: World, argument: T) => unknown
    real: (world: World, state: Queryable, argument: T) => Promise<unknown>
  },
): LedgerStep {
  return {
    check: () => true,
    async run(world, real) {
      // The real one first: the model's state is what the call is made from.
      const answered = await outcome(() => acts.real(world, real.state, argument))
      const expected = await outcome(async () => acts.model(world, argument))
      assert.deepEqual(answered, expected)
      await setNow(world, real)
      await real.check(world)
    },
    toString: () => `${name} ${canonicalText(argument)}`,
  }
}

const canonicalText = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))

async function outcome(act: () => Promise<unknown>): Promise<unknown> {
  try {
    return (await act()) ?? null
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (!/^EG\d{3}$|^23505$/.test(String(code))) throw error
    return { refused: code }
  }
}

export const call =
  (sql: string) =>
  async (state: Queryable, values: readonly unknown[]): Promise<unknown> =>
    (await state.query<{ value: unknown }>(`select ${sql} as value`, values)).rows[0]?.value || null

export const process = fc.constantFrom(...PROCESSES)
export const account = fc.constantFrom(...ACCOUNTS)
// Around the price of the least hold, and far above it.
export const amount = fc.oneof(fc.bigInt(1n, 9000n), fc.bigInt(1n, 100_000_000n))
