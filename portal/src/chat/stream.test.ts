// A streamed chat in a browser whose streams have no iterator, as Safari 17.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
