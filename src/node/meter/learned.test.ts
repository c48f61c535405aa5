// Learned rates of indirect CPU in a real state: they survive a restart of the agent, and damaged ones are not used.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createLogger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import { readSettings } from '#config/config.ts'
import { createIndirectLearner, type IndirectWindow } from '#metering/indirect.ts'
import type { IndirectRates } from '#contract/ledger/indirect-rates.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { createMeter, readLearned } from './meter.ts'

const options = { skip: whyNoState(), timeout: 60_000 }
const METER = 'node'
const noCells: Cells['list'] = () => []

async function open(t: TestContext) {
  const ending = new AsyncDisposableStack()
  t.after(() => ending.disposeAsync())
  const server = ending.use(await openTestUrl())
  const { state } = await openTestState({ urlOf: server.of, schemas: SCHEMAS, connections: 2 })
  ending.use(state)
  const folder = mkdtempSync(join(tmpdir(), 'ergon-learned-'))
  ending.defer(() => rmSync(folder, { recursive: true, force: true }))
  /** One life of the agent: what it published. */
  const live = async (): Promise<IndirectRates | undefined> => {
    const learned = await readLearned(state, METER, quiet)
    const meter = await createMeter({
      config: readSettings({ sysfsRoot: folder }, []),
      cells: { list: noCells } as Cells,
      name: METER,
      routedTo: 'ergon/local/cpu-x64',
      calibrationFile: join(folder, 'calibration.json'),
      signal: new AbortController().signal,
      ...(learned !== undefined && { learned }),
      log: quiet,
    })
    try {
      await meter.publish(state)
    } finally {
      await meter.close()
    }
    return await readLearned(state, METER, quiet)
  }
  return { state, live }
}

/** Rates as windows of two operations teach them. */
function learnedRates(): IndirectRates {
  const learner = createIndirectLearner()
  for (let second = 1; second <= 40; second++) {
    const window: IndirectWindow = {
      elapsedNs: 1_000_000_000n,
      cpuNs: BigInt(400_000_000 + 7_000_000 * (second % 3)),
      chargedNs: 200_000_000n,
      activity: {
        operations: new Map([
          ['storage.put-object', { requests: 50 * second, ownNs: 190_000_000 * second }],
          ['chat.create', { requests: second * 2, ownNs: 30_000_000 * second }],
        ]),
        activeSeconds: second,
        indirectNs: 0n,
        aheadNs: 0n,
        rateNs: 0n,
      },
    }
    learner.observe(window)
  }
  return learner.rates()
}

test('learned rates survive a restart of the agent', options, async (t) => {
  const { state, live } = await open(t)
  await live()
  const rates = learnedRates()
  assert.ok((rates.operations['storage.put-object']?.value ?? 0) > 0)
  await state.query(`update tariffs set body = jsonb_set(body, '{indirect}', $1::jsonb)`, [
    JSON.stringify({ ...rates, allowedNs: { 'gw-1.1': 5 } }),
  ])
  assert.deepEqual(await live(), rates)
  assert.deepEqual(await live(), rates)
})

test('damaged rates are left, with a line in the log, and learned anew', options, async (t) => {
  const { state, live } = await open(t)
  await live()
  const rates = learnedRates()
  const put = rates.operations['storage.put-object']
  const damaged: unknown[] = [
    'rates',
    {},
    { ...rates, levelMilli: -1 },
    { ...rates, operations: { 'storage.put-object': { ...put, value: '1e9' } } },
    { ...rates, operations: { 'storage.put-object': { ...put, deviation: -1 } } },
    { ...rates, operations: { 'storage.put-object': { ...put, own: undefined } } },
  ]
  for (const stored of damaged) {
    await state.query(`update tariffs set body = jsonb_set(body, '{indirect}', $1::jsonb)`, [
      JSON.stringify(stored),
    ])
    const lines: string[] = []
    const log = createLogger('test', { write: (line) => void lines.push(line) })
    assert.equal(await readLearned(state, METER, log), undefined, JSON.stringify(stored))
    assert.match(lines.join(''), /rates of indirect CPU are damaged: they are learned anew/)
    assert.deepEqual((await live())?.operations, {})
  }
})
