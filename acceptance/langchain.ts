// LangChain's OpenAI classes.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { CHAT_MODEL, countingFetch, EMBEDDING_MODEL, QUESTION, type World } from './world.ts'

export function langchainTests(world: () => World): void {
  const chat = (more: { apiKey?: string; fetch?: typeof fetch } = {}) =>
    new ChatOpenAI({
      model: CHAT_MODEL,
      apiKey: more.apiKey ?? world().apiKey,
      temperature: 0,
      maxTokens: 32,
      configuration: {
        baseURL: world().baseURL,
        ...(more.fetch === undefined ? {} : { fetch: more.fetch }),
      },
    })

  describe('LangChain', () => {
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

    test('embeds', async () => {
      const embeddings = new OpenAIEmbeddings({
        model: EMBEDDING_MODEL,
        apiKey: world().apiKey,
        configuration: { baseURL: world().baseURL },
      })
      const vectors = await embeddings.embedDocuments(['a', 'b'])
      assert.deepEqual(
        vectors.map((vector) => vector.length),
        [384, 384],
      )
      assert.ok(vectors.every((vector) => vector.some((value) => value !== 0)))
    })

    for (const [what, token, status] of [
      ['an empty balance', () => world().depleted, 402],
      ['a free tier that is used up', () => world().freeloader, 429],
    ] as const)
      test(`raises ${status} for ${what}, after one request`, async () => {
        const counting = countingFetch()
        const asked = chat({ apiKey: token(), fetch: counting.fetch }).invoke(QUESTION)
        await assert.rejects(asked, (error: { status?: number }) => error.status === status)
        assert.equal(counting.count(), 1)
      })
  })
}
