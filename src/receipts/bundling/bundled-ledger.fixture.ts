// A ledger of old charges with a signed log, without the processes that make both: charges of several accounts in a
// random order of times, and the tiles of their leaves.
import { randomBytes } from 'node:crypto'
import { newIdBody } from '#base/ids.ts'
import { nj, priceOf } from '#base/units.ts'
import { chargeText } from '#charging/charge-text.ts'
import { carbonOfParts, type Charge, type ChargePart } from '#contract/ledger/charge.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import type { State } from '#state/connect.ts'
import { leafOf } from '#tlog/leaf.ts'
import { EMPTY_EDGE, extendTiles, type Tile } from '#tlog/tiles.ts'

const ORIGIN = 'ergon-0000000000000000/2026'
const FACTOR = {
  zone: 'WORLD',
  mg_per_kwh: '473000',
  source: 'Ember 2025',
  year: '2025',
  basis: 'assumed',
}

export type OldCharge = {
  readonly account: string
  readonly token?: string | undefined
  readonly operation: string
  readonly resource?: string | undefined
  readonly model?: string | undefined
  readonly process: string
  readonly toMs: number
  readonly energies: readonly number[]
  readonly method: ChargePart['method']
  readonly free: boolean
}

export type PostedCharge = { readonly charge: Charge; readonly bytes: Buffer }

/** The charge as the ledger has it; `seq` counts within its session. */
export function composeOld(one: OldCharge, seq: number): PostedCharge {
  const body = newIdBody(one.toMs - 40)
  const parts = one.energies.map((energy, nth): ChargePart => ({
    meter: nth === 0 ? 'cpu-x64' : 'upstream:a',
    method: nth === 0 ? one.method : 'declared',
    band_pct: '40',
    energy_nj: String(energy),
    ...(nth === 0 ? {} : { factor: { ...FACTOR, mg_per_kwh: '100000' } }),
  }))
  const energy = nj(one.energies.reduce((sum, each) => sum + BigInt(each), 0n))
  const charge: Charge = {
    v: '1',
    id: `rcpt_${body}`,
    request: `req_${body}`,
    session: `${one.process}.1`,
    seq: String(seq),
    account: one.account,
    ...(one.token === undefined ? {} : { token: one.token }),
    operation: one.operation,
    ...(one.resource === undefined ? {} : { resource: one.resource }),
    ...(one.model === undefined ? {} : { model: one.model }),
    tier: 'L0',
    routed_to: 'ergon/local/cpu-x64',
    status: 200,
    from: new Date(one.toMs - 40).toISOString(),
    to: new Date(one.toMs).toISOString(),
    parts,
    energy_nj: energy.toString(),
    carbon_pg: carbonOfParts(parts, BigInt(FACTOR.mg_per_kwh)).toString(),
    factor: FACTOR,
    pue_milli: '1000',
    price_id: 'price_1',
    pusd_per_j: '69444',
    free: one.free,
    charge_pusd: one.free ? '0' : priceOf(energy, 69_444n).toString(),
    unit: 'tUSD',
    env: 'test',
    salt: randomBytes(16).toString('base64url'),
  }
  return { charge, bytes: Buffer.from(chargeText(charge)) }
}

const INSERT = `
  insert into charges (session, seq, id, account, account_seq, leaf_index, token, operation, resource, model, status,
    energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
  select c ->> 'session', (c ->> 'seq')::bigint, c ->> 'id', c ->> 'account', seqs, $3::bigint + leaf - 1, c ->> 'token',
    c ->> 'operation', case when c ->> 'resource' not like 's3:%' then split_part(c ->> 'resource', ':', 2) end,
    c ->> 'model', (c ->> 'status')::int, (c ->> 'energy_nj')::numeric, (c ->> 'carbon_pg')::numeric,
    (c ->> 'charge_pusd')::numeric, (c ->> 'free')::boolean, (c ->> 'to')::timestamptz, sha256(b), b
  from unnest($1::bytea[], $2::bigint[]) with ordinality as r (b, seqs, leaf),
    lateral (select convert_from(b, 'UTF8')::json as c) parsed`

/** Charges on an empty ledger, posted in their order, sealed and summed by the audit. */
export async function postOld(state: State, list: readonly OldCharge[]): Promise<PostedCharge[]> {
  const posted = await openLog(state).post(list)
  await balance(state)
  return posted
}

/** A ledger and its log, to which charges are posted. The wallets stay as they are. */
export function openLog(state: State) {
  const counts = new Map<string, number>()
  let edge = EMPTY_EDGE
  const next = (key: string) => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return counts.get(key) ?? 0
  }
  async function meet(list: readonly OldCharge[]): Promise<void> {
    for (const id of new Set(list.map(({ account }) => account)))
      if (!counts.has(id) && id !== 'nobody')
        await addTestAccount(state, { id, env: 'test', lowWater: 1n })
    await state.query(
      `insert into sessions (id, process, life, closed_at)
       select p || '.1', p, 1, now() - interval '2 days' from unnest($1::text[]) p on conflict do nothing`,
      [[...new Set(list.map(({ process }) => process))]],
    )
    if (edge.size === 0)
      await state.query(
        `insert into receipt_shards (origin, shard, public_key, first_leaf, valid_from)
         values ($1, '2026', $2, 0, '2026-01-01')`,
        [ORIGIN, Buffer.alloc(32)],
      )
  }
  return {
    async post(list: readonly OldCharge[]): Promise<PostedCharge[]> {
      await meet(list)
      const posted = list.map((one) => composeOld(one, next(one.process)))
      const numbers = posted.map(({ charge }) => next(charge.account))
      await state.query(INSERT, [posted.map(({ bytes }) => bytes), numbers, edge.size])
      const leaves = posted.map(({ bytes }, nth) =>
        leafOf({ bytes, accountSeq: BigInt(numbers[nth] ?? 0) }),
      )
      const grown = extendTiles(edge, leaves)
      edge = grown.edge
      await saveTiles(state, edge.size, grown.written)
      await state.query('update log_head set size = $1', [edge.size])
      for (const [id, count] of counts)
        await state.query('update accounts set charge_count = $2 where id = $1', [id, count])
      await state.query('select audit_charges()')
      return posted
    },
  }
}

/** The log as the sealer leaves it, under a key that signed nothing. */
async function saveTiles(state: State, size: number, tiles: readonly Tile[]): Promise<void> {
  await state.query(
    `insert into receipt_tiles (origin, level, index, hashes)
     select $1, * from unnest($2::smallint[], $3::bigint[], $4::bytea[])
     on conflict (origin, level, index) do update set hashes = excluded.hashes`,
    [
      ORIGIN,
      tiles.map(({ level }) => level),
      tiles.map(({ index }) => index),
      tiles.map(({ hashes }) => hashes),
    ],
  )
  await state.query(
    'insert into receipt_checkpoints (origin, size, root, note) values ($1, $2, $3, $4)',
    [ORIGIN, size, Buffer.alloc(32), `${ORIGIN}\n${size}\nroot\n\nsignature\n`],
  )
}

/** Moves the wallets as the ticks of the charges would have. */
export async function balance(state: State): Promise<void> {
  await state.query(
    `with charged as (
       select account, sum(energy_nj) as nj, sum(charge_pusd) as pusd from (
         select account, energy_nj, charge_pusd from charges
         union all select account, energy_nj, charge_pusd from bundled_accounts) c group by account
     ), wanted as (
       select 'energy:' || account as id, nj as posted from charged
       union all select 'operator:energy', -sum(nj) from charged
       union all select 'operator:revenue:tUSD', sum(pusd) from charged
       union all select 'operator:funds:tUSD', -sum(pusd) from charged
     ) update wallets w set posted = wanted.posted from wanted where wanted.id = w.id`,
  )
}
