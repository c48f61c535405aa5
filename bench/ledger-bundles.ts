// A ledger whose charges are bundled: the bytes of a charge, and each reader, on a state of the bench's own. The charges
// are posted and bundled in turns, so that the table never has all of them.
import { sumResource } from '#ledger/resource-energy.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { sumUsage } from '#ledger/usage.ts'
import type { LedgerFilter } from '#payments/ledger-entry.ts'
import { FIRST_POSITION, ledgerOfId, ledgerPage, newestOf } from '#payments/ledger-page.ts'
import { ledgerSums } from '#payments/ledger-sums.ts'
import { openTestUrl } from '#postgres/testing-url.ts'
import { bundleOldest } from '#receipts/bundling/bundle-charges.ts'
import { openLog, type OldCharge } from '#receipts/bundling/bundled-ledger.fixture.ts'
import { createReceipts } from '#receipts/prove.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'
import { median, type Section } from './report.ts'

const CHARGES = 10_000_000
const QUICK_CHARGES = 100_000
const BATCH = 20_000
const ACCOUNT = 'acct_0'
const RESOURCE = 'db_01m7z2dtdje60rs6t1v8g8fzdb'
const ROUNDS = 11
const PAGE = 101
const MS_MAX = 50
const BYTES_MAX = 150
/** The time from one charge to the next: ten million are 38 days at three a second. */
const GAP_MS = 330
const DAY_MS = 86_400_000
const ALL: LedgerFilter = { account: ACCOUNT, from: null, to: null, operations: null, kind: null }

export async function runLedgerBundles(isQuick = false): Promise<Section> {
  const count = isQuick ? QUICK_CHARGES : CHARGES
  await using server = await openTestUrl({ fsync: 'off', max_wal_size: '2GB' })
  await using state = await openLedgerState(server.of, 2)
  const filled = await fill(state, count)
  const sizes = await sizesOf(state)
  const timed = await timesOf(state, count, filled.ids)
  return {
    name: 'ledger-bundles',
    title: `${count.toLocaleString('en')} bundled charges`,
    bars: [
      {
        what: 'a bundled charge',
        value: sizes.bundles / count,
        most: BYTES_MAX,
        digits: 1,
        unit: 'B',
      },
      ...timed.map(({ name, ms }) => ({
        what: name,
        value: ms,
        most: MS_MAX,
        digits: 1,
        unit: 'ms',
      })),
    ],
    tables: [
      {
        caption: 'On disk, of each charge',
        columns: ['Part', 'bytes'],
        rows: [
          ['bundles with their indexes', (sizes.bundles / count).toFixed(1)],
          ['leaves in the tiles of the log', (sizes.tiles / count).toFixed(1)],
          ['sums by hour, token and resource', (sizes.sums / count).toFixed(1)],
          ['a row of charges, before', (filled.rowBytes / BATCH).toFixed(0)],
        ],
      },
      {
        caption: 'Bundling: write, read back, prove, delete',
        columns: ['Process', 'wall time of a charge'],
        rows: [['both', `${((filled.bundleMs * 1000) / count).toFixed(0)} µs`]],
      },
    ],
    notes: [
      `One account of ${filled.share} % and ${OTHERS} small ones; median of ${ROUNDS} for each reader, from the second on.`,
    ],
  }
}

const OTHERS = 20
/** The large account has so many of each hundred charges. */
const SHARE = 98

const chargeAt = (nth: number, endMs: number, count: number): OldCharge => {
  const account = nth % 100 < SHARE ? ACCOUNT : `acct_${1 + (Math.floor(nth / 100) % OTHERS)}`
  const isMinute = nth % 180 === 0
  return {
    account,
    token: `tok_${nth % 3}_${account}`,
    operation: isMinute ? 'cell.standing' : nth % 1000 === 1 ? 'database.list' : 'chat.create',
    resource: isMinute ? `database:${RESOURCE}` : undefined,
    model: isMinute ? undefined : `ergon/model-${nth % 5}`,
    process: `gw-${nth % 2}`,
    toMs: endMs - (count - nth) * GAP_MS + ((nth * 7919) % 300),
    energies: [1_000_000 + ((nth * 104_729) % 900_000_000)],
    method: 'model',
    free: false,
  }
}

async function fill(state: State, count: number) {
  const endMs = Date.now() - 40 * DAY_MS
  const log = openLog(state)
  const ids: string[] = []
  let bundleMs = 0
  let rowBytes = 0
  for (let from = 0; from < count; from += BATCH) {
    const posted = await log.post(
      Array.from({ length: Math.min(BATCH, count - from) }, (_, nth) =>
        chargeAt(from + nth, endMs, count),
      ),
    )
    const mine = posted.filter(({ charge }) => charge.account === ACCOUNT)
    ids.push(...mine.filter((_, nth) => nth % 5000 === 17).map(({ charge }) => charge.id))
    if (from === 0) rowBytes = await bytesOf(state, 'charges')
    const begun = performance.now()
    const accounts = [ACCOUNT, ...Array.from({ length: OTHERS }, (_, nth) => `acct_${nth + 1}`)]
    for (const account of accounts)
      while ((await bundleOldest(state, account, { before: new Date(), until: null })) > 0) continue
    bundleMs += performance.now() - begun
    // As autovacuum does in a product.
    if (from % (10 * BATCH) === 0) await state.query('vacuum charges')
  }
  await state.query('vacuum analyze')
  return { ids, bundleMs, rowBytes, share: SHARE }
}

async function bytesOf(state: State, ...tables: string[]): Promise<number> {
  const { rows } = await state.query<{ bytes: string }>(
    'select sum(pg_total_relation_size(name::regclass)) as bytes from unnest($1::text[]) name',
    [tables],
  )
  return Number(rows[0]?.bytes)
}

const sizesOf = async (state: State) => ({
  bundles: await bytesOf(state, 'charge_bundles'),
  tiles: await bytesOf(state, 'receipt_tiles'),
  sums: await bytesOf(state, 'usage_hours', 'bundled_tokens', 'bundled_resource_hours'),
})

type Timed = { readonly name: string; readonly ms: number }

async function timesOf(state: State, count: number, ids: readonly string[]): Promise<Timed[]> {
  const receipts = createReceipts({ store: createSqlReceiptStore(state) })
  const start = { ...FIRST_POSITION, ...(await newestOf(state, ACCOUNT)) }
  const endMs = Date.now() - 40 * DAY_MS
  const at = (part: number) => new Date(endMs - part * count * GAP_MS)
  const page = (filter: LedgerFilter, after = start) =>
    inSnapshot(state, (snapshot) => ledgerPage(snapshot, filter, { after, limit: PAGE }))
  const middle = { ...start, at: at(0.5).toISOString(), rank: 1 as const, number: '1' }
  const span = { account: ACCOUNT, from: at(1), to: at(0.1) }
  const idOf = (round: number) => ids[(round * 37) % ids.length] ?? ''
  const asks: Record<string, (round: number) => Promise<unknown>> = {
    'receipt with its proof': (round) => receipts.find(idOf(round), ['nobody', ACCOUNT]),
    'entry by a request': (round) => ledgerOfId(state, ACCOUNT, idOf(round)),
    'first page of the ledger': () => page(ALL),
    'page in the middle': () => page(ALL, middle),
    'page of one service in the middle': () =>
      page({ ...ALL, operations: ['chat.create'] }, middle),
    'sums of all': () => ledgerSums(state, ALL),
    'usage of all but a tenth, by model': () =>
      inSnapshot(state, (snapshot) => sumUsage(snapshot, span, 'model', { offset: 0, limit: 100 })),
    'energy of a database by hour, a week': () =>
      inSnapshot(state, (snapshot) =>
        sumResource(
          snapshot,
          {
            ...span,
            from: new Date(span.to.getTime() - 7 * DAY_MS),
            resource: RESOURCE,
            operations: ['cell.standing'],
          },
          'hour',
        ),
      ),
    'last use of a token': () => state.query('select token_last_used($1)', [`tok_1_${ACCOUNT}`]),
  }
  const timed: Timed[] = []
  for (const [name, ask] of Object.entries(asks)) {
    const all: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const begun = performance.now()
      await ask(round)
      all.push(performance.now() - begun)
    }
    timed.push({ name, ms: median(all.slice(1)) })
  }
  return timed
}
