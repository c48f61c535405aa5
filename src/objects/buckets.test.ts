import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { createBuckets } from './create-buckets.ts'
import { OTHER, makeBucket, withStore, type Store } from './store.fixture.ts'

const skip = whyNoState()
let store: Store
withStore(8, (opened) => (store = opened))
const refused = (code: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === code

test(
  'a bucket belongs to whoever made it, and making it again changes nothing',
  { skip },
  async () => {
    const given = {
      name: 'mine',
      account: OTHER,
      region: 'local',
      objectLock: true,
      configurations: { acl: 'x' },
    }
    const first = await store.buckets.create(given)
    assert.equal(first.created, true)
    assert.deepEqual(await store.buckets.create({ ...given, configurations: {} }), {
      bucket: first.bucket,
      created: false,
    })
    await assert.rejects(makeBucket(store, 'mine'), refused('BucketAlreadyExists'))
    await assert.rejects(
      store.buckets.setVersioning(first.bucket, 'suspended'),
      refused('InvalidBucketState'),
    )
    await store.buckets.configure(first.bucket, 'cors', { rules: [1] })
    await store.buckets.configure(first.bucket, 'acl', null)
    assert.deepEqual((await store.buckets.get('mine')).configurations, { cors: { rules: [1] } })
    await makeBucket(store, 'my-second')
    const page = await store.buckets.list({ account: OTHER, limit: 5 })
    assert.deepEqual(
      page.buckets.map(({ name }) => name),
      ['mine'],
    )
    await assert.rejects(store.buckets.get('no-such'), refused('NoSuchBucket'))
  },
)

test(
  'an account has so many buckets and no more, however many it makes at once',
  { skip },
  async () => {
    const buckets = createBuckets({
      state: store.state,
      finds: store.pipeline,
      documents: store.documents,
      clock: systemClock,
      bucketsMax: 3,
    })
    await store.state.query("insert into accounts (id, env) values ('acct_many', 'test')")
    const make = (name: string) =>
      buckets.create({
        name,
        account: 'acct_many',
        region: 'local',
        objectLock: false,
        configurations: {},
      })
    const names = Array.from({ length: 12 }, (_, at) => `many-${at}`)
    const made = await Promise.allSettled(names.map(make))
    const refusals = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
    for (const refusal of refusals) assert.ok(refused('TooManyBuckets')(refusal))
    assert.equal(refusals.length, 9)
    const { buckets: listed } = await buckets.list({ account: 'acct_many', limit: 20 })
    const [first] = listed
    assert.ok(first !== undefined && listed.length === 3)
    assert.equal((await make(first.name)).created, false, 'what is there may be made again')
    await makeBucket(store, 'of-another')
    await assert.rejects(make('of-another'), refused('BucketAlreadyExists'))
    await buckets.delete(await buckets.get(first.name))
    assert.equal((await make('many-again')).created, true)
    await assert.rejects(make('many-more'), refused('TooManyBuckets'))
  },
)
