// The models that come with the product: what the list says of them, and which of them `auto` chooses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { QUESTION } from '../../acceptance/world.ts'
import { product, sharedErgon } from '../product.ts'
import { CHAT, EMBEDDING, METERED } from '../settings.ts'

product(METERED)

async function client(): Promise<OpenAI> {
  const { baseUrl, token, waitForModel } = sharedErgon()
  for (const model of [CHAT, EMBEDDING, `${EMBEDDING}-1536`]) await waitForModel(model)
  return new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: token })
}

test('the chat model is listed as a demo that is weak at tools', async () => {
  const model = (await (await client()).models.retrieve(CHAT)) as unknown as Record<string, unknown>
  const { tiers, tools, class: fit, context_length: context } = model
  assert.deepEqual([tiers, tools, fit, context], [['L0'], 'weak', 'demo', 2048])
})

test('auto chats with it on this machine, and embeds in 1536 dimensions', async () => {
  const openai = await client()
  const messages = [{ role: 'user' as const, content: QUESTION }]
  const asked = { model: 'auto', messages, max_tokens: 1 }
  const { data, response } = await openai.chat.completions.create(asked).withResponse()
  assert.equal(data.model, CHAT)
  assert.match(response.headers.get('x-routed-to') ?? '', /^ergon\/local\/cpu-/)
  assert.match(response.headers.get('x-router-reason') ?? '', /^L0: .*demo model/)
  for (const [model, named, length] of [
    ['auto', `${EMBEDDING}-1536`, 1536],
    [EMBEDDING, EMBEDDING, 384],
  ] as const) {
    const answer = await openai.embeddings.create({ model, input: 'Hello' })
    assert.deepEqual([answer.model, answer.data[0]?.embedding.length], [named, length])
  }
})
