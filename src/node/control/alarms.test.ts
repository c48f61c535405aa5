import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { booksFigures } from '#status/metrics/books-figures.ts'
import { alarmHandlers } from './alarms.ts'

test(
  'an alarm is listed until it is acknowledged, with the earlier ones of its kind and no later one',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    const raise = async (kind: string) =>
      void (await state.query("insert into alarms (kind, detail) values ($1, '{}')", [kind]))
    const handlers = alarmHandlers(state)
    const list = (all = false) => handlers['alarm.list']({ all })
    const open = async () => (await list()).alarms.map(({ id, kind }) => `${kind} ${id}`)
    const acknowledge = (alarm: string) => handlers['alarm.acknowledge']({ alarm })
    const counted = async () => (await booksFigures(state)).alarms

    for (const kind of ['journal_gap', 'blob_damaged', 'journal_gap', 'journal_gap'])
      await raise(kind)
    assert.deepEqual(await open(), [
      'journal_gap 4',
      'journal_gap 3',
      'blob_damaged 2',
      'journal_gap 1',
    ])
    assert.equal(await counted(), 4)

    assert.deepEqual(await acknowledge('3'), { kind: 'journal_gap', acknowledged: 2 })
    assert.deepEqual(await open(), ['journal_gap 4', 'blob_damaged 2'])
    assert.equal(await counted(), 2)
    assert.deepEqual(await acknowledge('3'), { kind: 'journal_gap', acknowledged: 0 })

    for (const id of ['9', 'x', '99999999999999999999'])
      await assert.rejects(acknowledge(id), { code: 'alarm_not_found' }, id)
    const all = (await list(true)).alarms
    assert.deepEqual(
      all.map(({ id, acknowledged_at: at }) => [id, at !== null]),
      [
        ['4', false],
        ['3', true],
        ['2', false],
        ['1', true],
      ],
    )

    await state.query(
      "insert into alarms (kind, detail) select 'many', '{}' from generate_series(1, 1000)",
    )
    const { alarms, more } = await list()
    assert.deepEqual([alarms.length, more], [1000, true])
  },
)
