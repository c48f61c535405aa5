// A state, five signers and the receipts of both, and what the tests do to a state in the place of the ledger.
import { SCHEMAS } from '#processes/schemas.ts'
import { rmSync } from 'node:fs'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createQuorum } from '#signers/client.ts'
import { fiveSigners, type FiveSigners } from '#signers/five-signers.fixture.ts'
import type { State } from '#state/connect.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { leavesOf } from '#tlog/charge.fixture.ts'
import { createLeadership } from './leader.ts'
import { createReceipts } from './prove.ts'
import { createSealer, type Sealer } from './sealer.ts'
import { createSignerStore } from './signer-store.ts'
import { createSqlReceiptStore } from './sql-store.ts'

export const log = createLogger('test', { write: () => undefined })

type Server = AsyncDisposable & { readonly of: Parameters<typeof openTestState>[0]['urlOf'] }

/** An account in a state of its own, signers that have no key yet, and what is made of both; it closes the server. */
export async function openReceipts(opening: Promise<Server>) {
  const five = fiveSigners()
  const [server] = await Promise.all([opening, five.start()])
  const wanted = { urlOf: server.of, schemas: SCHEMAS, connections: 5 }
  const { state, url } = await openTestState(wanted)
  await state.query(`insert into accounts (id, env) values ('acct_1', 'live')`)
  const store = createSqlReceiptStore(state)
  const signerStore = createSignerStore(state)
  const quorum = createQuorum({ sockets: five.sockets, log, silenceMs: 2_000 })
  return {
    state,
    url,
    five,
    store,
    signerStore,
    quorum,
    receipts: createReceipts({ store }),
    async [Symbol.asyncDispose]() {
      await quorum.close()
      await five.stop()
      await state[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

type SealerDeps = Pick<Parameters<typeof createSealer>[0], 'store' | 'signers' | 'clock'>

export type RunningSealer = { readonly sealer: Sealer; stop(): Promise<void> }

/** Begins to seal as a leader of the state. */
export function runSealer(state: State, deps: SealerDeps): RunningSealer {
  const leadership = createLeadership(state)
  const { lead } = leadership
  const { mayMakeKey } = createSignerStore(state)
  const sealer = createSealer({ ...deps, log, lead, mayMakeKey })
  const stopping = new AbortController()
  const done = sealer.run(stopping.signal)
  return {
    sealer,
    async stop() {
      stopping.abort()
      await done
      await leadership[Symbol.asyncDispose]()
    },
  }
}

/**
 * Posts charges `from` up to but not including `to`, as the tick does, as far as the sealer can see it. Each has the
 * bytes of the charge that is `others` numbers later.
 */
export async function postCharges(
  state: State,
  from: number,
  to: number,
  others = 0,
): Promise<void> {
  for (const [nth, { accountSeq, bytes }] of leavesOf(from + others, to + others).entries())
    await state.query(
      `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status,
         energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
       values ('gw-1.1', $1, $2, 'acct_1', $3, $1, 'chat.create', 200, 0, 0, 0, false, now(), '', $4)`,
      [from + nth, `rcpt_${from + nth}`, accountSeq.toString(), bytes],
    )
}

/** Takes back charges from a leaf on, as a restore does. */
export async function dropCharges(state: State, from: number): Promise<void> {
  await state.query('alter table charges disable trigger all')
  await state.query('delete from charges where leaf_index >= $1', [from])
  await state.query('alter table charges enable trigger all')
}

/** The details of the alarms of a kind, oldest first. */
export async function alarmsOf(state: State, kind: string): Promise<object[]> {
  const { rows } = await state.query<{ detail: object }>(
    'select detail from alarms where kind = $1 order by id',
    [kind],
  )
  return rows.map(({ detail }) => detail)
}

/** A shard that the state does not know any more, nor that it was lost. */
export async function dropShard(state: State, origin: string): Promise<void> {
  for (const table of ['receipt_checkpoints', 'receipt_tiles', 'receipt_shards'])
    await state.query(`delete from ${table} where origin = $1`, [origin])
  await state.query('delete from receipt_lost_shards')
}

/** A disk that lost the files: the processes come back with empty folders. */
export async function loseShares(five: FiveSigners, ...indices: number[]): Promise<void> {
  await five.kill(...indices)
  for (const index of indices) rmSync(five.folderOf(index), { recursive: true })
  await five.start(...indices)
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(120_000)
  while (!(await holds())) await sleep(20, signal)
}
