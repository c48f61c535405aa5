// The AI SDK with its provider for OpenAI-shaped servers.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, embedMany, generateText, jsonSchema, Output, streamText } from 'ai'
import { collect, countingFetch, key, needing, offered, QUESTION } from './world.ts'

const provider = (more: { apiKey?: string; fetch?: typeof fetch } = {}) =>
  createOpenAICompatible({
    name: 'ergon',
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...key(),
    ...more,
  })
const call = { prompt: QUESTION, temperature: 0, maxOutputTokens: 32 }

describe('AI SDK', () => {
  const test = needing('chat')

  test('generates text and counts its tokens', async () => {
    const { text, usage, finishReason, response } = await generateText({
      model: provider()(offered('chat')),
      ...call,
    })
    assert.match(text, /Paris/)
    assert.equal(finishReason, 'stop')
    assert.ok((usage.totalTokens ?? 0) > 0)
    assert.match(response.headers?.['x-receipt-id'] ?? '', /^rcpt_/)
  })

  test('streams text', async () => {
    const stream = streamText({ model: provider()('auto'), ...call })
    const pieces = await collect(stream.textStream)
    assert.ok(pieces.length > 1)
    assert.match(pieces.join(''), /Paris/)
    assert.ok(((await stream.usage).totalTokens ?? 0) > 0)
  })

  test('generates an object of a schema', async () => {
    const { output } = await generateText({
      model: provider()(offered('chat')),
      ...call,
      maxOutputTokens: 64,
      output: Output.object({
        schema: jsonSchema<{ capital: string }>({
          type: 'object',
          properties: { capital: { type: 'string' } },
          required: ['capital'],
          additionalProperties: false,
        }),
      }),
    })
    assert.equal(typeof output.capital, 'string')
  })

  needing('embedding')('embeds many texts', async () => {
    const { embeddings } = await embedMany({
      model: provider().textEmbeddingModel(offered('embedding')),
      values: ['a', 'b', 'c'],
    })
    assert.equal(embeddings.length, 3)
    const [{ length } = []] = embeddings
    assert.ok(length > 0 && embeddings.every((embedding) => embedding.length === length))
  })

  needing('chat', 'depleted')('raises 402 with our body, after one request', async () => {
    const counting = countingFetch()
    const model = provider({ apiKey: offered('depleted'), fetch: counting.fetch })(offered('chat'))
    const error = await generateText({ model, ...call }).then(
      () => assert.fail('it was answered'),
      (raised: unknown) => raised,
    )
    assert.ok(APICallError.isInstance(error))
    assert.equal(error.statusCode, 402)
    assert.match(error.message, /nothing is left of the balance/)
    assert.match(error.responseBody ?? '', /balance_depleted/)
    assert.equal(counting.count(), 1)
  })

  needing('chat', 'unfunded')(
    'raises 429 with our words; it asks three times, as x-should-retry is not its own',
    async () => {
      const counting = countingFetch()
      const model = provider({ apiKey: offered('unfunded'), fetch: counting.fetch })(
        offered('chat'),
      )
      await assert.rejects(generateText({ model, ...call }), /free tier is used up/)
      assert.equal(counting.count(), 3)
    },
  )

  test('raises 404 for an unknown model', async () => {
    const model = provider()('gpt-none')
    await assert.rejects(generateText({ model, ...call }), /Could not find the model gpt-none/)
  })
})
