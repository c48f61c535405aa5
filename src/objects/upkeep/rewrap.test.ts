import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { rotatedKeys, rotateKey } from '#objects/encryption/key-versions.ts'
import { createVault } from '#objects/encryption/vault.ts'
import {
  brokenRules,
  inlineObject,
  makeBucket,
  partsObject,
  readVersion,
  withStore,
  type Store,
} from '#objects/store.fixture.ts'
import type { ObjectBody, Json, JsonObject } from '#objects/types.ts'
import type { Encryption } from '#objects/encryption/encryption.ts'
import { rewrapKeys } from './rewrap.ts'

const skip = whyNoState()
let store: Store
withStore(4, (opened) => (store = opened))

const { signal } = new AbortController()
const KEYS = { secret: 'a secret', keyIds: ['one', 'two'] }
const vault = createVault({ ...KEYS, versionOf: () => 1 })
const ONE: Encryption = { kind: 'SSE-KMS', keyId: 'one', context: 'e30=' }
const TWO: Encryption = { kind: 'SSE-KMS', keyId: 'two' }
const OURS: Encryption = { kind: 'SSE-S3' }

const step = (settledMs = 0) =>
  rewrapKeys(
    { state: store.state, objects: store.objects, ...KEYS },
    { limit: 2, signal, settledMs },
  )

const versionIn = (envelope: Json | undefined) => (envelope as JsonObject)['keyVersion'] ?? 1

test(
  'after a rotation all data keys of the name are wrapped again, in steps',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'rewrapped')
    const dataKeys = new Map<string, Buffer>()
    const put = async (key: string, made: Encryption, inParts: boolean) => {
      const { key: dataKey, envelope } = vault.create(made, undefined)
      dataKeys.set(key, dataKey)
      const written = inParts ? partsObject(key, [50_000, 7]) : inlineObject('text')
      const body: ObjectBody =
        written.body.kind === 'inline'
          ? written.body
          : {
              kind: 'parts',
              parts: written.body.parts.map((one) => ({ ...one, encryption: envelope })),
            }
      const encryption = { ...made, ...(inParts ? {} : { envelope }) } as unknown as Json
      await store.objects.put(bucket, key, {
        attributes: { ...written.attributes, encryption },
        body,
      })
    }
    const envelopesOf = async (key: string): Promise<Json[]> => {
      const { version, body } = await readVersion(store, bucket, { key })
      if (body.kind === 'parts') return body.parts.map(({ encryption }) => encryption)
      return [(version.encryption as JsonObject)['envelope'] ?? null]
    }
    await put('small', ONE, false)
    await put('large', ONE, true)
    await put('other', TWO, false)
    await put('ours', OURS, false)
    await store.objects.put(bucket, 'plain', inlineObject('plain'))
    const root = vault.create(ONE, undefined)
    const annotation = { name: 'n', size: 1, etag: 'e', checksums: {}, encryption: { ...ONE } }
    await store.annotations.put(
      bucket,
      { key: 'large' },
      {
        ...annotation,
        salt: Buffer.alloc(16),
        sealed: Buffer.alloc(17),
        sheet: null,
        key: root.envelope,
        ifMatch: undefined,
        bypassGovernance: false,
      },
    )
    assert.deepEqual(await step(), { rewrapped: 0, done: true })

    assert.equal(await rotateKey(store.state, 'one'), 2)
    assert.equal((await step(60_000)).done, true, 'gateways have not heard of it yet')
    let rewrapped = 0
    let steps = 0
    for (; steps < 20; steps++) {
      const made = await step()
      rewrapped += made.rewrapped
      if (made.done) break
    }
    assert.equal(rewrapped, 2)
    assert.ok(steps >= 3, `${steps} steps`)
    const [key] = await rotatedKeys(store.state)
    assert.deepEqual([key?.name, key?.version, key?.wrapped], ['one', 2, 2])
    const wanted = { small: [ONE, 2], large: [ONE, 2], other: [TWO, 1], ours: [OURS, 1] } as const
    for (const [name, [made, version]] of Object.entries(wanted))
      for (const envelope of await envelopesOf(name)) {
        assert.equal(versionIn(envelope), version, name)
        assert.deepEqual(vault.open(made, envelope, undefined), dataKeys.get(name), name)
      }
    const { version: annotated } = await readVersion(store, bucket, { key: 'large' })
    assert.equal(versionIn(annotated.annotations?.key), 2)
    const opened = vault.open(ONE, annotated.annotations?.key ?? null, undefined)
    assert.deepEqual(opened, root.key)
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('a round is done for the keys alone that were settled when it began', { skip }, async () => {
  const bucket = await makeBucket(store, 'rewrapped-later')
  const keysNow = async () =>
    Object.fromEntries(
      (await rotatedKeys(store.state)).map(({ name, version, wrapped }) => [
        name,
        [version, wrapped],
      ]),
    )
  const roundOf = async (settledMs: number) => {
    for (let steps = 0; steps < 20; steps++) if ((await step(settledMs)).done) return
    assert.fail('the round does not end')
  }
  const [one] = await rotatedKeys(store.state)
  const oneVersion = await rotateKey(store.state, 'one')
  assert.equal(await rotateKey(store.state, 'two'), 2)
  await store.state.query(
    "update storage_keys set rotated_at = now() - interval '1 day' where name = 'one'",
  )
  await roundOf(3_600_000)
  assert.deepEqual(await keysNow(), { one: [oneVersion, oneVersion], two: [2, 1] })
  assert.equal(oneVersion, (one?.version ?? 1) + 1)

  // By a gateway that had not heard of the rotation while the round went by.
  const { envelope } = vault.create(TWO, undefined)
  const written = inlineObject('late')
  const encryption = { ...TWO, envelope } as unknown as Json
  await store.objects.put(bucket, 'late', {
    ...written,
    attributes: { ...written.attributes, encryption },
  })
  await roundOf(0)
  assert.deepEqual((await keysNow())['two'], [2, 2])
  const { version } = await readVersion(store, bucket, { key: 'late' })
  assert.equal(versionIn((version.encryption as JsonObject)['envelope']), 2)
})
