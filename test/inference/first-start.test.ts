// A request in the first moments of a service: its models are on their way, and SDKs are asked to wait for them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchOnce } from '../patient-fetch.ts'
import { EMBEDDING } from '../settings.ts'
import { startErgon } from '../start-ergon.ts'

test('the first requests are asked to come again while their model loads', async () => {
  await using ergon = await startErgon({ models: EMBEDDING })
  const ask = async (model: string) => {
    const answer = await fetchOnce(`${ergon.baseUrl}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'Hi' }),
    })
    return { answer, title: ((await answer.json()) as { title?: string }).title }
  }
  for (const { answer, title } of await Promise.all([ask(EMBEDDING), ask('auto')])) {
    if (answer.status === 200) continue
    assert.deepEqual([answer.status, title], [503, 'model_loading'])
    assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    assert.equal(answer.headers.get('x-should-retry'), null)
  }
})
