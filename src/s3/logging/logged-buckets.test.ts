import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Bucket } from '#objects/types.ts'
import { createLoggedBuckets } from './logged-buckets.ts'

const LOGGING = { bucket: 'logs', prefix: '', format: 'simple' } as const
const bucketOf = (name: string, configurations: Bucket['configurations']): Bucket => ({
  id: 1,
  name,
  account: 'acct_a',
  region: 'local',
  createdAtMs: 0,
  versioning: 'off',
  objectLock: false,
  configurations,
  isReadOnly: false,
})

/** Buckets that answer when the test says so, and count what they are asked. */
function start() {
  let nowMs = 0
  const asked: string[] = []
  const waiting: PromiseWithResolvers<Bucket>[] = []
  const logged = createLoggedBuckets({
    clock: { wallMs: () => 0, monotonicMs: () => nowMs },
    buckets: {
      async get(name) {
        asked.push(name)
        const held = Promise.withResolvers<Bucket>()
        waiting.push(held)
        return await held.promise
      },
    },
  })
  const answer = (bucket: Bucket) => waiting.shift()?.resolve(bucket)
  const refuse = (error: Error) => waiting.shift()?.reject(error)
  return { logged, asked, answer, refuse, pass: (ms: number) => (nowMs += ms) }
}

test('find() asks once in five seconds for a bucket, however many wait, whatever the answer', async () => {
  const { logged, asked, answer, refuse, pass } = start()
  const found = [logged.find('photos'), logged.find('photos')]
  answer(bucketOf('photos', { logging: LOGGING }))
  for (const one of await Promise.all(found)) assert.deepEqual(one?.logging, LOGGING)
  const silent = logged.find('silent')
  answer(bucketOf('silent', {}))
  assert.equal(await silent, undefined)
  const none = logged.find('none')
  refuse(storageFault('NoSuchBucket'))
  assert.equal(await none, undefined)
  for (const name of ['photos', 'silent', 'none']) await logged.find(name)
  assert.deepEqual(asked, ['photos', 'silent', 'none'])
  pass(5000)
  const again = logged.find('photos')
  answer(bucketOf('photos', { logging: LOGGING }))
  assert.equal((await again)?.bucket.name, 'photos')
  assert.equal(asked.length, 4)
})

test('find() asks no more than four at once, and again after a failure', async () => {
  const { logged, asked, answer, refuse } = start()
  const found = Array.from({ length: 100 }, (_, nth) => logged.find(`bucket-${nth}`))
  assert.equal(asked.length, 4)
  refuse(new Error('the state is away'))
  await assert.rejects(found[0] ?? Promise.resolve(), /away/)
  for (let nth = 1; nth < 4; nth++) answer(bucketOf(`bucket-${nth}`, { logging: LOGGING }))
  const answers = await Promise.all(found.slice(1))
  assert.equal(answers.filter((one) => one !== undefined).length, 3)
  const again = logged.find('bucket-0')
  answer(bucketOf('bucket-0', { logging: LOGGING }))
  assert.equal((await again)?.bucket.name, 'bucket-0')
  assert.equal(await logged.find('No bucket'), undefined)
  assert.equal(asked.length, 5)
})
