// Pages that are asked for before the request is judged: only a caller that was allowed before, and only what the judge
// allows now.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Bucket } from '#objects/types.ts'
import type { StorageRequest } from '#s3/call.ts'
import { createEarlyPages } from './early-pages.ts'

const requestOf = (account: string | undefined, bucket = 'b') =>
  ({
    caller: account === undefined ? undefined : { account },
    body: { target: { bucket } },
  }) as unknown as StorageRequest

/** A judge that answers when told, and the ids that pages were asked of. */
function openPages() {
  const asked: number[] = []
  let verdict: () => Promise<Bucket> = () => Promise.reject(new Error('not judged'))
  const pages = createEarlyPages({ access: { bucket: () => verdict() } })
  return {
    asked,
    /** Judged at once. */
    list: (request: StorageRequest, id: number) => {
      verdict = async () => ({ id }) as Bucket
      return pages(request, async (bucket) => `page ${asked.push(bucket.id)} of ${bucket.id}`)
    },
    refuse: (request: StorageRequest, ask?: () => Promise<string>) => {
      verdict = () => setImmediate().then(() => Promise.reject(new Error('AccessDenied')))
      return pages(request, ask ?? (async (bucket) => `page ${asked.push(bucket.id)}`))
    },
    /** Not judged before `judge` is called. */
    begin: (request: StorageRequest) => {
      const judged = Promise.withResolvers<Bucket>()
      verdict = () => judged.promise
      const page = pages(request, async (bucket) => `page ${asked.push(bucket.id)} of ${bucket.id}`)
      return { page, judge: (id: number) => judged.resolve({ id } as Bucket) }
    },
  }
}

test('a caller that was allowed before has its page asked for while the request is judged', async () => {
  const { asked, list, begin } = openPages()
  await list(requestOf('a'), 7)
  assert.deepEqual(asked, [7])
  const { page, judge } = begin(requestOf('a'))
  assert.deepEqual(asked, [7, 7])
  judge(7)
  assert.equal((await page).page, 'page 2 of 7')
  assert.deepEqual(asked, [7, 7], 'and only once')
})

test('other callers, other buckets and callers without a name are judged first', async () => {
  const { asked, list, begin } = openPages()
  await list(requestOf('a'), 7)
  await list(requestOf(undefined), 7)
  for (const request of [requestOf('b'), requestOf('a', 'c'), requestOf(undefined)]) {
    const { page, judge } = begin(request)
    await setImmediate()
    assert.equal(asked.length, 2)
    judge(7)
    await page
    asked.pop()
  }
})

test('a bucket that was made again is asked for its own page', async () => {
  const { asked, list } = openPages()
  await list(requestOf('a'), 7)
  assert.equal((await list(requestOf('a'), 8)).page, 'page 3 of 8')
  assert.deepEqual(asked, [7, 7, 8])
  assert.equal((await list(requestOf('a'), 8)).page, 'page 4 of 8')
})

test('a refused caller gets no page, and its next one is not asked for early', async () => {
  const { asked, list, refuse } = openPages()
  await list(requestOf('a'), 7)
  const failing = () => Promise.reject(new Error('a page of a bucket that is gone'))
  await assert.rejects(refuse(requestOf('a'), failing), /AccessDenied/)
  await assert.rejects(refuse(requestOf('a')), /AccessDenied/)
  assert.deepEqual(asked, [7])
})

test('a page that fails early fails the request', async () => {
  const pages = createEarlyPages({ access: { bucket: async () => ({ id: 7 }) as Bucket } })
  await pages(requestOf('a'), async () => 'page')
  const failing = () => Promise.reject(new Error('Invalid version id specified'))
  await assert.rejects(pages(requestOf('a'), failing), /Invalid version id/)
})

test('no more than 1000 callers are remembered', async () => {
  const { asked, list, begin } = openPages()
  for (let n = 0; n <= 1000; n++) await list(requestOf(`a${n}`), 7)
  const oldest = begin(requestOf('a0'))
  assert.equal(asked.length, 1001)
  oldest.judge(7)
  await oldest.page
  const newest = begin(requestOf('a1000'))
  assert.equal(asked.length, 1003)
  newest.judge(7)
  await newest.page
})
