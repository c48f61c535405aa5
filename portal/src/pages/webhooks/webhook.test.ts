// The event types that the console offers are those of the contract.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EVENTS } from '#contract/events.ts'
import { deliveryState, EVENT_GROUPS } from './webhook.ts'

suite('EVENT_GROUPS', () => {
  test('has every event type of the contract once', () => {
    const offered = EVENT_GROUPS.flatMap(([, types]) => types)
    const known = Object.keys(EVENTS)
    assert.deepEqual(offered.toSorted(), known.toSorted())
  })
})

suite('deliveryState()', () => {
  const wordOf = (attempts: number, status: 'active' | 'paused' | 'disabled') =>
    deliveryState({ status: 'pending', attempts }, { status }).word
  test('says that a delivery is tried again only where its webhook sends', () => {
    assert.deepEqual([wordOf(0, 'active'), wordOf(2, 'active')], ['Waits', 'Is tried again'])
    assert.deepEqual(
      [wordOf(0, 'paused'), wordOf(2, 'disabled')],
      ['Waits for the resume', 'Waits for the resume'],
    )
  })
})
