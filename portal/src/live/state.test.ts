// A message of the live stream changes the state as the contract says: figures are replaced, lists are merged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveMessage } from '#contract/live/live.ts'
import { figureOfSums } from '#console/figures/known.ts'
import { after, NOTHING } from './state.ts'

const message = (at: string, fields: Partial<LiveMessage> = {}): LiveMessage => ({
  at,
  watts: { inference: 0.5, databases: 0.374 },
  method: 'model',
  band_pct: 40,
  today: {
    day: '2026-11-25',
    requests: 3,
    energy_nj: '358035898',
    carbon_pg: '47041938',
    charge_pusd: '24863',
    measured_nj: '358035898',
    band_pct: 12,
  },
  looking_nj: '2000000',
  ...fields,
})
const FIRST = '2026-11-25T09:41:07.000Z'
const SECOND = '2026-11-25T09:41:08.000Z'

test('figures of today are those of the message, and watts add up to the total', () => {
  const state = after(NOTHING, message(FIRST))
  assert.equal(state.status, 'live')
  assert.deepEqual(state.today?.figure, { nj: 358_035_898n, known: 'measured', bandPct: 12 })
  assert.deepEqual(state.meter, { known: 'modelled', bandPct: 40 })
  assert.equal(state.power?.total, 874_000_000n)
  const again = after(state, message(SECOND))
  assert.equal(again.today?.figure.nj, 358_035_898n)
  assert.equal(again.history.length, 2)
})

test('nothing of the day is vouched for where its band is not known', () => {
  const today = { ...message(FIRST).today, band_pct: null }
  const { figure } = after(NOTHING, message(FIRST, { today })).today ?? {}
  assert.deepEqual([figure?.known, figure?.bandPct], ['measured', undefined])
})

test('today is measured only where a sensor read all of it, as the usage says of the same charges', () => {
  const today = { ...message(FIRST).today, measured_nj: '358035897' }
  const { figure } = after(NOTHING, message(FIRST, { today })).today ?? {}
  assert.deepEqual(figure, figureOfSums([today]))
  assert.equal(figure?.known, 'modelled')
})

/** Messages of a stream at rest, and the state after them. */
const watched = (
  messages: readonly (readonly [second: number, nj: string, whole?: true])[],
  from = NOTHING,
) =>
  messages.reduce(
    (state, [second, nj, whole]) =>
      after(
        state,
        message(new Date(Date.parse(FIRST) + second * 1000).toISOString(), {
          looking_nj: nj,
          ...(whole && { whole }),
        }),
      ),
    from,
  )

test('the price of watching is a mean, and not that of the first reading', () => {
  // A stream at rest on a quiet machine: its opening, a reading of its own charge, then one each six seconds.
  const opened = watched([
    [0, '3240240'],
    [1, '13449480'],
  ])
  assert.equal(opened.watchingNj, undefined)
  const later = watched(
    [
      [7, '16449480'],
      [13, '19449480'],
    ],
    opened,
  )
  assert.equal(later.watchingNj, (19_449_480n - 3_240_240n) / 13n)
})

test('the price of watching is of the last minute, and a new stream keeps it', () => {
  const minute = [...Array(11).keys()].map(
    (nth) => [100 + nth * 6, `${90_000_000 + nth * 6_000_000}`] as const,
  )
  const rested = watched(minute, watched([[0, '3240240']]))
  assert.equal(rested.watchingNj, 1_000_000n)
  assert.equal(watched([[162, '99000000', true]], rested).watchingNj, 1_000_000n)
  assert.equal(
    watched(
      [
        [162, '99000000', true],
        [180, '135000000'],
      ],
      rested,
    ).watchingNj,
    2_000_000n,
  )
})

test('the price of watching is measured anew where the clock of the server was set back', () => {
  const before = watched([
    [3600, '1000000'],
    [3606, '2000000'],
  ])
  assert.equal(watched([[12, '3000000']], before).looks.length, 1)
})

test('lists keep what a message does not name, and drop what is gone', () => {
  const budget = { id: 'tok_1', budget_nj: '750', used_nj: '618' }
  const first = after(NOTHING, message(FIRST, { budgets: [budget, { ...budget, id: 'tok_2' }] }))
  const second = after(first, message(SECOND, { budgets: [{ id: 'tok_2', gone: true }] }))
  assert.deepEqual([...second.budgets.keys()], ['tok_1'])
  assert.equal(after(second, message(SECOND)).budgets, second.budgets)
})

test('a whole message takes the place of the lists that were known', () => {
  const budget = { id: 'tok_1', budget_nj: '750', used_nj: '618' }
  const first = after(NOTHING, message(FIRST, { budgets: [budget, { ...budget, id: 'tok_2' }] }))
  const second = after(first, message(SECOND, { whole: true, budgets: [budget] }))
  assert.deepEqual([...second.budgets.keys()], ['tok_1'])
  assert.equal(after(second, message(SECOND, { whole: true })).budgets.size, 0)
})

test('charges are the newest first, none twice, and missed ones are counted', () => {
  const charge = {
    id: 'rcpt_1',
    at: FIRST,
    service: 'inference',
    operation: 'chat.create',
    energy_nj: '5',
    charge_pusd: '1',
    method: 'model',
    band_pct: 40,
  } as const
  const first = after(NOTHING, message(FIRST, { charges: [charge] }))
  const second = after(
    first,
    message(SECOND, { charges: [{ ...charge, id: 'rcpt_2' }, charge], charges_more: 2 }),
  )
  assert.deepEqual(
    second.charges.map(({ id }) => id),
    ['rcpt_2', 'rcpt_1'],
  )
  assert.equal(second.missedCount, 2)
})
