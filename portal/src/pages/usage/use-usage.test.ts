// A range that moves with the time shows its sums all the while, and a range or group that is chosen shows its own alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InfiniteQueryObserver } from '@tanstack/react-query'
import { pageOf } from '#console/client/page.fixture.ts'
import { queryClient } from '#console/client/queries.ts'
import { presetRange, type Preset } from './range.ts'
import { usageReads, type GroupBy } from './use-usage.ts'

const NOW = Date.parse('2026-11-25T09:41:07Z')
const MINUTE_MS = 60_000
const REPLY = { object: 'list', data: [], next_cursor: null } as never

/** The groups of a preset at a time, whose read answers at once. */
const groupsAt = (preset: Preset, by: GroupBy, nowMs: number) => ({
  ...usageReads(presetRange(preset, nowMs), by, nowMs).groups,
  queryFn: async () => REPLY,
  refetchInterval: false as const,
})

test('the sums of the last hour stay while the next minute is read, and no other sums stand in', async (t) => {
  pageOf(t)
  const observer = new InfiniteQueryObserver(queryClient, groupsAt('hour', 'service', NOW))
  const end = observer.subscribe(() => undefined)
  t.after(() => {
    end()
    queryClient.clear()
  })
  await observer.refetch()
  /** True where something is shown before the new read has answered. */
  const shows = (...asked: Parameters<typeof groupsAt>) => {
    observer.setOptions(groupsAt(...asked))
    const { data, isFetching } = observer.getCurrentResult()
    assert.equal(isFetching, true)
    return data !== undefined
  }
  assert.equal(shows('hour', 'service', NOW + MINUTE_MS), true)
  await observer.refetch()
  assert.equal(shows('hour', 'token', NOW + MINUTE_MS), false)
  await observer.refetch()
  assert.equal(shows('day', 'token', NOW + MINUTE_MS), false)
  await observer.refetch()
  assert.equal(shows('day', 'token', NOW + 60 * MINUTE_MS), true)
})
