import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { forEachPayment } from './for-each-payment.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const HOUR_MS = 3_600_000
const log = createLogger('test', { level: 'error', write: () => undefined })
const { signal } = new AbortController()
const OPTIONS = { skip: whyNoState() }

let state: State
ledgerOfFile(1, (opened) => {
  state = opened
})

const setTime = (ms: number) =>
  state.query("select set_config('ergon.now', $1, false)", [new Date(ms).toISOString()])
const alarms = async () =>
  (
    await state.query<{ detail: { payment: string; reason: string } }>(
      "select detail from alarms where kind = 'payment_stuck' order by id",
    )
  ).rows.map(({ detail }) => [detail.payment, detail.reason])
const away = () => Promise.reject(fault('payment_processor_away', 'Could not ask the processor'))

test('calls that fail for an hour without a success raise one alarm', OPTIONS, async () => {
  const rows = [{ id: 'pay_1' }, { id: 'pay_2' }]
  const run = async (atMs: number, call: (id: string) => Promise<unknown>) => {
    await setTime(atMs)
    await forEachPayment({ rows, state, log, signal }, ({ id }) => call(id))
  }
  await run(0, away)
  // The second one works in between.
  await run(HOUR_MS / 2, (id) => (id === 'pay_2' ? Promise.resolve() : away()))
  await run(HOUR_MS - 1, away)
  assert.deepEqual(await alarms(), [])
  await run(HOUR_MS + 1, away)
  await run(HOUR_MS + 60_000, away)
  assert.deepEqual(await alarms(), [['pay_1', 'Could not ask the processor']])
})

test('another error than a failure of the processor ends the run', OPTIONS, async () => {
  const calls: string[] = []
  const rows = [{ id: 'pay_3' }, { id: 'pay_4' }]
  const call = ({ id }: { id: string }) => {
    calls.push(id)
    return Promise.reject(new RangeError('ours'))
  }
  await assert.rejects(forEachPayment({ rows, state, log, signal }, call), RangeError)
  assert.deepEqual(calls, ['pay_3'])
})
