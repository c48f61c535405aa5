import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { inlineObject, makeBucket, withStore, type Store } from '#objects/store.fixture.ts'
import { parseDeleteConditions } from './conditions.ts'
import { deleteConditions, writeConditions } from './write-conditions.ts'

const skip = whyNoState()
let store: Store
withStore(4, (opened) => (store = opened))

type Headers = Readonly<Record<string, string>>

test('the store judges writes and deletes as the public suite expects', { skip }, async () => {
  const bucket = await makeBucket(store, 'conditions')
  const write = (key: string, headers: Headers) =>
    store.objects.put(bucket, key, { ...inlineObject('abc'), ...writeConditions(headers) })
  const { modifiedAtMs } = await write('there', {})
  await write('there', { 'if-match': '*' })
  await write('there', { 'if-none-match': '"x"' })
  await write('new', { 'if-none-match': '*' })
  await assert.rejects(write('absent', { 'if-match': '*' }), { code: 'NoSuchKey' })
  await assert.rejects(write('there', { 'if-match': 'x' }), { code: 'PreconditionFailed' })
  await assert.rejects(write('there', { 'if-none-match': '*' }), { code: 'PreconditionFailed' })

  const remove = async (key: string, headers: Headers) => {
    const conditions = deleteConditions(parseDeleteConditions(headers))
    const [answer] = await store.objects.delete(bucket, [{ key, ...conditions }], {
      bypassGovernance: false,
    })
    return answer !== undefined && 'code' in answer ? answer.code : 'deleted'
  }
  const earlier = new Date(modifiedAtMs - 9000).toUTCString()
  assert.equal(await remove('absent', { 'if-match': 'x' }), 'deleted')
  assert.equal(await remove('there', { 'if-match': 'x' }), 'PreconditionFailed')
  assert.equal(await remove('there', { 'x-amz-if-match-size': '4' }), 'PreconditionFailed')
  const time = { 'x-amz-if-match-last-modified-time': earlier }
  assert.equal(await remove('there', time), 'PreconditionFailed')
  const held = { 'if-match': '"e-abc"', 'x-amz-if-match-size': '3' }
  assert.equal(await remove('there', held), 'deleted')
})
