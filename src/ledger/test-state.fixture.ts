// A ledger of a test's own: a first price, and charges to post.
import { canonicalJson } from '#base/canonical-json.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import type { State } from '#state/connect.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import type { TickRecord } from './tick.ts'

/** Opens a state of its own; `urlOf` gives the URL of a schema. Dispose of it to drop it. */
export async function openLedgerState(
  urlOf: (schema: string) => string,
  connections: number,
): Promise<State> {
  const { state } = await openTestState({ urlOf, schemas: SCHEMAS, connections })
  await state.query(
    "insert into prices (id, pusd_per_j, free_tier_nj) values ('price_1', 69444, 500000000)",
  )
  return state
}

export async function addTestAccount(
  state: State,
  account: { id: string; env: 'live' | 'test'; lowWater: bigint },
): Promise<void> {
  const { id, env, lowWater } = account
  await state.query('insert into accounts (id, env, low_water_pusd) values ($1, $2, $3)', [
    id,
    env,
    lowWater.toString(),
  ])
  await state.query("insert into wallets (id, unit, bounded) values ($1, 'nJ', false)", [
    `energy:${id}`,
  ])
}

/** Adds the owner of an account, `mem_<account>`, and a token of scope deploy, `tok_<account>`. */
export async function addTestMember(state: State, account: string): Promise<void> {
  await state.query(
    "insert into members (id, account, name, role, state) values ('mem_' || $1, $1, 'a', 'owner', 'active')",
    [account],
  )
  await state.query(
    `insert into tokens (id, account, member, hash, hint, name, scope)
     values ('tok_' || $1, $1, 'mem_' || $1, $1::bytea, 'x', 'x', 'deploy')`,
    [account],
  )
}

export type TestCharge = {
  readonly session: string
  readonly seq: bigint
  readonly account: string
  readonly ownNj: bigint
  readonly upstreamNj: bigint
  readonly money: bigint
  readonly at: string
  readonly operation?: string
  readonly resource?: string | undefined
}

/** A record with the fields of a charge that the ledger reads. */
export function testCharge(one: TestCharge): TickRecord {
  const parts = [
    { meter: 'm1', method: 'model', band_pct: '30', energy_nj: one.ownNj.toString() },
    {
      meter: 'upstream:x',
      method: 'declared',
      band_pct: '50',
      energy_nj: one.upstreamNj.toString(),
    },
  ]
  const text = canonicalJson({
    v: '1',
    id: `rcpt_${one.session}_${one.seq}`,
    account: one.account,
    operation: one.operation ?? 'chat.create',
    ...(one.resource === undefined ? {} : { resource: one.resource }),
    status: 200,
    parts: one.upstreamNj === 0n ? parts.slice(0, 1) : parts,
    energy_nj: (one.ownNj + one.upstreamNj).toString(),
    carbon_pg: '0',
    charge_pusd: one.money.toString(),
    free: one.money === 0n,
    to: one.at,
  })
  return { seq: one.seq, kind: 'charge', bytes: Buffer.from(text) }
}
