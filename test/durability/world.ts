// The surroundings of a gateway that serves objects and charges for them: a real PostgreSQL with our schema, price,
// tariff, an account and its token, and folders for blobs and journal. All is on one disk, which may lose its power.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import { SHARDS } from '#blobs/blob.ts'
import { cachedInstall, quiet, startTestServer, type TestServer } from '#postgres/testing.ts'
import { firstAccount } from '#node/first-start.ts'
import { connectState, type State, type StateAddress } from '#state/connect.ts'
import { migrate } from '#state/migrate.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { brokenRules } from '#objects/store.fixture.ts'
import { collectGarbage } from '#objects/upkeep/collect-garbage.ts'
import { sweepOrphans } from '#objects/upkeep/sweep-orphans.ts'
import { bookFaults } from '../books.ts'
import {
  blobsOf,
  startGatewayAlone,
  type GatewayAlone,
  type GatewayOptions,
} from './gateway-alone.ts'

const METER = 'node'
const TARIFF = {
  meter: METER,
  method: 'model',
  band_pct: '30',
  nj_per_cpu_s: '3500000000',
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
}
const GARBAGE_MAX = 100_000
const { signal } = new AbortController()

export type World = AsyncDisposable & {
  readonly server: TestServer
  readonly state: State
  readonly token: string
  /** Starts a gateway on it; one at a time. */
  gateway(options?: GatewayOptions): Promise<GatewayAlone>
  /** Removes what no row names, however new, and says how many orphans there were and what is left wrong. */
  tidy(): Promise<{ orphans: number; faults: string[] }>
  /** Of these receipts, those that are not exactly one charge of the ledger, with how often they are. */
  uncharged(told: Iterable<string>): Promise<{ id: string; times: string }[]>
  /** Faults of metadata and books in words. */
  faults(): Promise<string[]>
}

/** Makes one below `place`; dispose of it to stop it and to remove what is not on `place`. */
export async function openWorld(place = tmpdir()): Promise<World> {
  const runFolder = mkdtempSync(join(tmpdir(), 'ergon-run-'))
  chmodSync(runFolder, 0o755)
  const folder = mkdtempSync(join(place, 'ergon-data-'))
  const server = await startTestServer(await cachedInstall(), {}, { place })
  const address: StateAddress = {
    host: server.socketFolder,
    ...server.superuser,
    database: 'postgres',
  }
  const state = connectState({ address, connections: 2, log: quiet })
  const token = await furnish(state)
  const sql = async (text: string, values: readonly unknown[] = []) =>
    (await state.query(text, values)).rows
  return {
    server,
    state,
    token,
    gateway: (options = {}) =>
      startGatewayAlone({ state: address, folder, runFolder, meter: METER, ...options }),
    tidy: () => tidy(state, blobsOf(folder)),
    async uncharged(told) {
      const { rows } = await state.query<{ id: string; times: string }>(
        `select told.id, count(c.id)::text as times
         from unnest($1::text[]) as told (id) left join charges c on c.id = told.id collate "C"
         group by told.id having count(c.id) <> 1`,
        [[...told]],
      )
      return rows
    },
    faults: async () => [
      ...(await brokenRules(state)),
      ...(await bookFaults({ sql: sql as never })),
    ],
    async [Symbol.asyncDispose]() {
      await state[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      for (const each of [folder, runFolder]) rmSync(each, { recursive: true, force: true })
    },
  }
}

/** The content that the agent adds at a first start. */
async function furnish(state: State): Promise<string> {
  await migrate(state, SCHEMAS)
  await state.query(
    "insert into prices (id, pusd_per_j, free_tier_nj) values ('price-1', 69444, 50000000000000)",
  )
  await state.query('insert into tariffs (meter, body) values ($1, $2)', [
    METER,
    JSON.stringify(TARIFF),
  ])
  // Its first window does this.
  await state.query("insert into wallets (id, unit, bounded) values ($1, 'nJ', false)", [
    `meter:${METER}`,
  ])
  const { token } = await firstAccount(state)
  if (token === undefined) throw new TypeError('the first account has a token')
  return token
}

async function tidy(state: State, folder: string): Promise<{ orphans: number; faults: string[] }> {
  const store = await createFsStore({ folder, location: 'fs', log: quiet, clock: systemClock })
  let orphans = 0
  for (const _ of SHARDS)
    orphans += (
      await sweepOrphans({ state, store, clock: systemClock }, { signal, ageMs: -1, keptMs: 0 })
    ).found
  await collectGarbage({ state, store }, { limit: GARBAGE_MAX, signal, graceMs: 0 })
  const { rows } = await state.query<{ id: string }>("select id from blobs where location = 'fs'")
  const named = new Set(rows.map(({ id }) => id))
  const faults: string[] = []
  for (const shard of SHARDS)
    for await (const { id } of store.list(shard, signal))
      if (!named.delete(id)) faults.push(`a file that no row names is left: ${id}`)
  for (const id of named) faults.push(`a row names a file that is gone: ${id}`)
  return { orphans, faults }
}
