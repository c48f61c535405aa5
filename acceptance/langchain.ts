// LangChain's OpenAI classes.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { countingFetch, key, needing, offered, QUESTION } from './world.ts'

const chat = (more: { apiKey?: string; fetch?: typeof fetch } = {}) =>
  new ChatOpenAI({
    model: offered('chat'),
    apiKey: more.apiKey ?? key().apiKey,
    temperature: 0,
    maxTokens: 32,
    configuration: {
      baseURL: key().baseURL,
      ...(more.fetch === undefined ? {} : { fetch: more.fetch }),
    },
  })

describe('LangChain', () => {
  const test = needing('chat')

  test('invokes and counts tokens', async () => {
    const { content, response_metadata: metadata } = await chat().invoke(QUESTION)
    assert.match(String(content), /Paris/)
    const { usage } = metadata as { usage?: { total_tokens?: number } }
    assert.ok((usage?.total_tokens ?? 0) > 0)
  })

  test('streams', async () => {
    let text = ''
    for await (const chunk of await chat().stream(QUESTION)) text += String(chunk.content)
    assert.match(text, /Paris/)
  })

  test('gets structured output', async () => {
    const structured = chat().withStructuredOutput(
      {
        title: 'answer',
        type: 'object',
        properties: { capital: { type: 'string' } },
        required: ['capital'],
        additionalProperties: false,
      },
      { method: 'jsonSchema', strict: true },
    )
    const { capital } = (await structured.invoke(QUESTION)) as { capital: unknown }
    assert.equal(typeof capital, 'string')
  })

  needing('embedding')('embeds', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: offered('embedding'),
      apiKey: key().apiKey,
      configuration: { baseURL: key().baseURL },
    })
    const vectors = await embeddings.embedDocuments(['a', 'b'])
    assert.equal(vectors.length, 2)
    assert.equal(vectors[0]?.length, vectors[1]?.length)
    assert.ok(vectors.every((vector) => vector.some((value) => value !== 0)))
  })

  for (const [name, token, status] of [
    ['an empty balance', 'depleted', 402],
    ['a free tier that is used up', 'unfunded', 429],
  ] as const)
    needing('chat', token)(`raises ${status} for ${name}, after one request`, async () => {
      const counting = countingFetch()
      const asked = chat({ apiKey: offered(token), fetch: counting.fetch }).invoke(QUESTION)
      await assert.rejects(asked, (error: { status?: number }) => error.status === status)
      assert.equal(counting.count(), 1)
    })
})
