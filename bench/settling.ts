// Work that is opened, admitted, settled and journaled as a gateway does it, without HTTP around it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '#base/log.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { LEAST_HOLD_NJ } from '#contract/ledger/least-hold.ts'
import { openAccounting } from '#node/accounting.ts'
import type { State } from '#state/connect.ts'

const ACCOUNTS = 20
const FUNDS_PUSD = 1_000_000_000_000_000n

export type Settling = AsyncDisposable & {
  /** One request's worth of charging; when it returns the charge is in the journal. */
  settleOne(): Promise<Charge>
  /** Journaled and not yet posted. */
  readonly pending: number
  /** The ledger's name for this process's life. */
  readonly session: string
}

/** Opens a session of the process `bench` and its own accounts with money. */
export async function openSettling(state: State, meter: string): Promise<Settling> {
  const payers = Array.from({ length: ACCOUNTS }, (_, index) => ({
    account: `acct_bench${index}`,
    env: 'test' as const,
    funded: true,
  }))
  for (const { account } of payers) {
    await addTestAccount(state, { id: account, env: 'test', lowWater: 1n })
    await state.query("select grant_funds($1, $2, 'test', 50, 'test_funds')", [account, FUNDS_PUSD])
  }
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bench-'))
  const accounting = await openAccounting({
    process: 'bench',
    meter,
    journalFolder: folder,
    state,
    log: createLogger('bench', { level: 'warn' }),
    forget: () => undefined,
    failed(error) {
      throw error
    },
  })
  const { session, charging } = accounting
  await session.tickNow(AbortSignal.timeout(10_000))
  let next = 0
  const settleOne = async (): Promise<Charge> => {
    const payer = payers[next++ % ACCOUNTS]
    if (payer === undefined) throw new RangeError('no payer')
    const work = charging.open()
    const waits = work.admit(payer, 'chat.create', LEAST_HOLD_NJ)
    if (waits !== undefined) await waits
    return work.settle(200)
  }
  // The first of each account waits for its lease.
  for (const _ of payers) await settleOne()
  return {
    settleOne,
    get pending() {
      return session.pending
    },
    session: session.id,
    async [Symbol.asyncDispose]() {
      await accounting.close()
      rmSync(folder, { recursive: true })
    },
  }
}
