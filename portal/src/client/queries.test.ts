// A change has the reads of a visible page asked again at once, and those of a hidden page once somebody looks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryObserver } from '@tanstack/react-query'
import { pageOf } from './page.fixture.ts'
import { changed, lastAnswerMs, queryClient } from './queries.ts'

test('changed() asks nothing again on a hidden page, and the read is stale there', async (t) => {
  const page = pageOf(t)
  let reads = 0
  const queryKey = ['GET /v1/functions', {}]
  const observer = new QueryObserver(queryClient, { queryKey, queryFn: async () => ++reads })
  const end = observer.subscribe(() => undefined)
  t.after(() => {
    end()
    queryClient.clear()
  })
  assert.equal(lastAnswerMs(), 0)
  await observer.refetch()
  const before = reads
  assert.ok(Math.abs(Date.now() - lastAnswerMs()) < 10_000)
  await changed('GET /v1/functions')
  assert.equal(reads, before + 1)
  assert.equal(observer.getCurrentResult().isStale, false)
  page.hidden = true
  await changed('GET /v1/functions')
  assert.equal(reads, before + 1)
  assert.equal(observer.getCurrentResult().isStale, true)
})
