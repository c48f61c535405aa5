// Settled requests a second: open, admit, settle, journal write before the reply, and the tick that
// posts them, with PostgreSQL's fsync on. One process settles, one server posts; nothing seals.
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl } from '#postgres/testing-url.ts'
import { cpuUs } from './processes.ts'
import type { Section } from './report.ts'
import { openSettling } from './settling.ts'

const SECONDS = 8
const BURST = 64
const PAUSE_MS = 5
// Above this the bench waits, as clients would: what is not posted is only in the journal.
const PENDING_MAX = 12_000
const TARIFF = {
  meter: 'm1',
  method: 'model',
  band_pct: '30',
  nj_per_cpu_s: '3500000000',
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
}

export async function runLedger(): Promise<Section> {
  await using server = await openTestUrl({ shared_buffers: '128MB', max_wal_size: '1GB' })
  await using state = await openLedgerState(server.of, 4)
  await state.query("insert into tariffs (meter, body) values ('m1', $1)", [TARIFF])
  const look = async () => {
    const { rows } = await state.query<{ size: string; pids: number[] }>(
      `select size, (select array_agg(pid) from pg_stat_activity where application_name = 'ergon')
       as pids from log_head`,
    )
    const [{ size, pids } = { size: '0', pids: [] }] = rows
    return {
      posted: Number(size),
      serverUs: pids.reduce((sum, pid) => sum + cpuUs(pid), 0),
      ownUs: process.cpuUsage().user + process.cpuUsage().system,
      atMs: performance.now(),
    }
  }
  const settling = await openSettling(state, 'm1')
  const pace = async (seconds: number) => {
    const endMs = performance.now() + seconds * 1000
    while (performance.now() < endMs) {
      // Waiting is asleep: what spins would count as the CPU of charges, and take it from the server.
      if (settling.pending >= PENDING_MAX) await pause(PAUSE_MS)
      for (let n = 0; n < BURST; n++) await settling.settleOne()
      await turn()
    }
  }
  await pace(SECONDS / 4)
  const before = await look()
  await pace(SECONDS)
  const after = await look()
  await settling[Symbol.asyncDispose]()
  const { rows: faults } = await state.query('select * from ledger_faults()')
  if (faults.length > 0) throw new Error(`The books do not add up: ${JSON.stringify(faults)}`)

  const count = after.posted - before.posted
  const rate = (count * 1000) / (after.atMs - before.atMs)
  const each = (us: number) => `${(us / count).toFixed(0)} µs`
  return {
    name: 'ledger',
    title: 'Ledger',
    bars: [
      { what: 'settled, journaled and posted charges', value: rate, least: 10_000, unit: '/s' },
    ],
    tables: [
      {
        caption: 'CPU of a charge',
        columns: ['process', 'CPU'],
        rows: [
          [
            'the process that settles (open to journal write, tick)',
            each(after.ownUs - before.ownUs),
          ],
          ['PostgreSQL', each(after.serverUs - before.serverUs)],
        ],
      },
    ],
    notes: [
      `${SECONDS} s, 20 accounts, at most ${PENDING_MAX} charges journaled and not yet posted; ticks of up to 4,000 charges; the sums of the books are checked at the end.`,
    ],
  }
}
