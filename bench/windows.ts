// The disk space of the meter's windows: days of a node, a window a second, rolled up as upkeep does. Table, indexes and
// TOAST in a real PostgreSQL; a year is the rollups of a day, 365 times, and the day before.
import { nj } from '#base/units.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { windowBytes } from '#metering/window-record.ts'
import { splitReading } from '#metering/window.ts'
import { openTestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { Section } from './report.ts'

const DAYS = 3
const DAY_S = 86_400
const HOUR_S = 3600
const STRETCH_S = 300
const START_K = 1_700_006_400
const YEAR_MB_MAX = 1000
const MB = 1_000_000
const SIGNERS = [1, 2, 3, 4, 5].map((index) => `signer-${index}`)
const OURS = ['agent', 'postgres', 'gw-1', 'jobs', 'tasks', ...SIGNERS]
const NODES = {
  'at rest': ['smollm2-135m-instruct', 'all-minilm-l6-v2'],
  'busy, with ten models': Array.from({ length: 10 }, (_, index) => `model-number-${index}`),
}

export async function runWindows(): Promise<Section> {
  await using server = await openTestUrl()
  const found: (Room & { name: string; yearMb: number })[] = []
  for (const [name, models] of Object.entries(NODES)) {
    await using state = await openLedgerState(server.of, 1)
    const isBusy = name !== 'at rest'
    const room = await roomOf(state, (second) => windowOf(second, models, isBusy))
    found.push({ name, ...room, yearMb: (room.windows + (room.rollups / (DAYS - 1)) * 365) / MB })
  }
  return {
    name: 'windows',
    title: 'Windows of the meter on disk',
    bars: found.map(({ name, yearMb }) => ({
      what: `a year of a node ${name}`,
      value: yearMb,
      most: YEAR_MB_MAX,
      digits: 0,
      unit: 'MB',
    })),
    tables: [
      {
        caption: 'Room, with indexes and TOAST',
        columns: [
          'node',
          'a window',
          'five minutes',
          'the last day, MB',
          'a year not rolled up, GB',
        ],
        rows: found.map(({ name, firstDay, windows, rollups }) => [
          name,
          `${(firstDay / DAY_S).toFixed(0)} B`,
          `${((rollups / (DAYS - 1) / DAY_S) * STRETCH_S).toFixed(0)} B`,
          (windows / MB).toFixed(0),
          ((firstDay * 365) / MB / 1000).toFixed(1),
        ]),
      },
    ],
    notes: [
      `${DAYS} days of ${DAY_S} windows, rolled up each hour and vacuumed each four hours. A year is its rollups and the last day; a table that was larger before keeps its room for new rows.`,
    ],
  }
}

type Room = { readonly firstDay: number; readonly windows: number; readonly rollups: number }

/** The room that is taken after the first day, and of both tables in the end. */
async function roomOf(state: State, textOf: (second: number) => string): Promise<Room> {
  await state.query("insert into tariffs (meter, body) values ('node', '{}')")
  await state.query("insert into sessions (id, process, life) values ('agent.1', 'agent', 1)")
  let firstDay = 0
  for (let hour = 1; hour <= DAYS * 24; hour++) {
    await insert(state, (hour - 1) * HOUR_S, HOUR_S, textOf)
    if (hour === 24) firstDay = await sizeOf(state, 'windows')
    await state.query('select roll_up_windows($1, 1000)', [START_K + hour * HOUR_S - DAY_S])
    if (hour % 4 === 0) await state.query('vacuum windows')
  }
  const windows = await sizeOf(state, 'windows')
  return { firstDay, windows, rollups: await sizeOf(state, 'window_rollups') }
}

async function sizeOf(state: State, table: string): Promise<number> {
  const { rows } = await state.query<{ size: string }>(
    'select pg_total_relation_size($1) as size',
    [table],
  )
  return Number(rows[0]?.size)
}

async function insert(
  state: State,
  from: number,
  count: number,
  textOf: (second: number) => string,
): Promise<void> {
  const seconds = Array.from({ length: count }, (_, index) => from + index)
  await state.query(
    `insert into windows (session, seq, meter, k, reading_nj, hash, bytes)
     select 'agent.1', second + 1, 'node', $3 + second, (text::json ->> 'reading_nj')::numeric,
       sha256(convert_to(text, 'UTF8')), convert_to(text, 'UTF8')
     from unnest($1::bigint[], $2::text[]) as r (second, text)`,
    [seconds, seconds.map(textOf), START_K],
  )
  await state.query('update sessions set last_seq = $1', [from + count])
}

function windowOf(second: number, models: readonly string[], isBusy: boolean): string {
  const names = [...OURS, ...models]
  const cells = names.map((name, index) => ({
    name,
    payer: { kind: OURS.includes(name) ? ('operator' as const) : ('caller' as const) },
    // At rest a third of them ran in a second.
    cpuNs:
      isBusy || (second + index) % 3 === 0
        ? BigInt(1_000_003 * (1 + ((second * 7 + index) % 97)))
        : 0n,
    reservedPpb: isBusy ? 20_000_000 : 0,
  }))
  const readingNj = nj(BigInt(1_600_000_000 + (second % 1009) * 1_000_003))
  const { dynamicNj: _, ...split } = splitReading({
    readingNj,
    idleDrawNj: nj(1_479_682_548n),
    busyNs: 50_000_000n,
    cells,
  })
  return windowBytes({
    meter: 'node',
    k: START_K + second,
    elapsedNs: 999_785_506n,
    method: 'model',
    bandPct: 40,
    pueMilli: 1000n,
    readingNj,
    ...split,
    chargedNs: isBusy ? 612_345_678n : 0n,
    accruedNj: nj(isBusy ? 1_690_074_071n : 0n),
    tariffNjPerCpuS: 2_760_000_000n,
  }).toString()
}
