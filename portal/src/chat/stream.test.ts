// A streamed chat in a browser whose streams have no iterator, as Safari 17.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { streamChat } from './stream.ts'

const BODY = { model: 'auto', messages: [], max_tokens: 1, temperature: 0 }
const textOf = (text: string) =>
  `data: {"model":"m","choices":[{"delta":{"content":"${text}"}}]}\n\n`

test('streamChat() reads an answer to its end, without an iterator of streams', async (t) => {
  t.mock.method(
    globalThis,
    'fetch',
    async () => new Response(`${textOf('a')}${textOf('b')}data: [DONE]\n\n`),
  )
  const iterator = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator)
  t.after(() =>
    Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, iterator ?? {}),
  )
  Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
    value: undefined,
    configurable: true,
    writable: true,
  })
  const told: unknown[] = []
  for await (const event of streamChat(BODY, new AbortController().signal))
    if (event.type === 'text') told.push(event.text)
  assert.deepEqual(told, ['a', 'b'])
})

/** A model that is loading for the first requests, and then answers. */
function loading(t: TestContext, refusals: number) {
  const asked: unknown[] = []
  t.mock.method(globalThis, 'fetch', async (_: string, { body, signal }: RequestInit) => {
    signal?.throwIfAborted()
    asked.push(body)
    if (asked.length > refusals) return new Response(`${textOf('a')}data: [DONE]\n\n`)
    return Response.json(
      { detail: 'The model is loading', error: { code: 'model_loading' } },
      { status: 503, headers: { 'retry-after': '0' } },
    )
  })
  return asked
}

test('streamChat() asks a model that loads again by itself, and says so', async (t) => {
  const asked = loading(t, 2)
  const told: string[] = []
  const loads = () => void told.push('loads')
  for await (const event of streamChat(BODY, new AbortController().signal, loads))
    told.push(event.type)
  assert.deepEqual(told, ['loads', 'loads', 'begun', 'text'])
  assert.deepEqual([asked.length, new Set(asked).size], [3, 1], 'the same request')
})

test('streamChat() asks no more once it is stopped', async (t) => {
  const asked = loading(t, 100)
  const ending = new AbortController()
  const stopped = streamChat(BODY, ending.signal, () => ending.abort()).next()
  await assert.rejects(stopped, { name: 'AbortError' })
  assert.equal(asked.length, 1)
})
