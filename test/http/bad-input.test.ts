// Bodies that an endpoint cannot use: each gets its status, its code and the field at fault; its caller
// pays for the reading and no more, and the books add up.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargeOf } from '../books.ts'
import { energyHeaderFaults } from '../../acceptance/energy-headers.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

let ergon: Ergon
let upstreams: ScriptedUpstream[] = []
/** The length of the log before these tests, in characters. */
let loggedBefore = 0
before(async () => {
  ergon = sharedErgon()
  loggedBefore = ergon.stderr().length
  upstreams = [
    await addUpstream(ergon, 'chatty', { context: 64 }),
    await addUpstream(ergon, 'vector', { embedding: true, context: 64 }),
  ]
})
after(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.close()))
})

const messages = [{ role: 'user', content: 'Hello' }]
/** An honest body of each endpoint. */
const ENDPOINTS: Readonly<Record<string, { operation: string; body: Record<string, unknown> }>> = {
  '/v1/chat/completions': { operation: 'chat.create', body: { model: 'chatty', messages } },
  '/v1/completions': { operation: 'completion.create', body: { model: 'chatty', prompt: 'Hello' } },
  '/v1/embeddings': { operation: 'embedding.create', body: { model: 'vector', input: 'Hello' } },
}
const CHAT = '/v1/chat/completions'
const COMPLETION = '/v1/completions'
const EMBEDDING = '/v1/embeddings'

type Expected = {
  readonly status: number
  readonly code: string
  readonly param?: string | null
  readonly type?: string
}

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
) {
  const answer = await fetch(ergon.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, ...headers },
    body,
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

async function assertRefused(
  path: string,
  answer: Awaited<ReturnType<typeof post>>,
  { status, code, param, type = 'invalid_request_error' }: Expected,
): Promise<void> {
  assert.equal(answer.status, status, answer.text)
  const problem = JSON.parse(answer.text) as {
    status: number
    title: string
    detail: string
    instance: string
    error: { code: string; type: string; param: string | null; message: string }
  }
  assert.equal(problem.status, status)
  assert.equal(problem.error.code, code)
  assert.equal(problem.error.type, type)
  if (param !== undefined) assert.equal(problem.error.param, param)
  assert.ok(problem.detail.length > 10 && problem.error.message.length > 10)
  assert.equal(problem.instance, answer.headers.get('x-request-id'))
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
  const charge = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
  assert.equal(charge.status, status)
  assert.equal(charge.account, ergon.account)
  assert.equal(charge.operation, ENDPOINTS[path]?.operation)
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const INVALID_JSON: Expected = { status: 400, code: 'invalid_json' }
/** Bodies that no endpoint can read. */
const UNREADABLE: Readonly<Record<string, [string | Uint8Array<ArrayBuffer>, Expected]>> = {
  'an empty body': ['', INVALID_JSON],
  'half a body': ['{"model": "chatty", ', INVALID_JSON],
  'two values': ['{} {}', INVALID_JSON],
  'single quotes': ["{'model': 'chatty'}", INVALID_JSON],
  'a trailing comma': ['{"model": "chatty",}', INVALID_JSON],
  NaN: ['{"model": NaN}', INVALID_JSON],
  'a control character in a string': ['{"model": "a\u0001b"}', INVALID_JSON],
  'bytes that are not UTF-8': [latin1('{"model": "\xff\xfe"}'), INVALID_JSON],
  'an overlong UTF-8 form': [latin1('{"model": "\xc0\xaf"}'), INVALID_JSON],
  'half a surrogate in UTF-8': [latin1('{"model": "\xed\xa0\x80"}'), INVALID_JSON],
  'UTF-16': [Buffer.from('{"model": "chatty"}', 'utf16le'), INVALID_JSON],
  'nesting 65 deep': [nested(65), INVALID_JSON],
  'nesting 100000 deep': [nested(100_000), INVALID_JSON],
  'a bare string': ['"hello"', { status: 400, code: 'invalid_request', param: null }],
  'a number': ['7', { status: 400, code: 'invalid_request', param: null }],
  null: ['null', { status: 400, code: 'invalid_request', param: null }],
  'a list': ['[{}]', { status: 400, code: 'invalid_request', param: null }],
  'an empty object': ['{}', { status: 400, code: 'invalid_request' }],
}

for (const [path, { body }] of Object.entries(ENDPOINTS))
  describe(`POST ${path}`, { concurrency: 8 }, () => {
    for (const [what, [bytes, expected]] of Object.entries(UNREADABLE))
      test(`refuses ${what}`, async () => {
        await assertRefused(path, await post(path, bytes), expected)
      })
    test('refuses a body of another media type', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json-seq',
      ])
        await assertRefused(
          path,
          await post(path, JSON.stringify(body), { 'content-type': type }),
          {
            status: 415,
            code: 'unsupported_media_type',
          },
        )
    })
    test('refuses a coded body', async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      await assertRefused(path, await post(path, JSON.stringify(body), headers), {
        status: 415,
        code: 'unsupported_media_type',
      })
    })
    test('refuses a body over 8 MiB', async () => {
      const huge = JSON.stringify({ ...body, user: 'a'.repeat(8 * 1024 * 1024) })
      await assertRefused(path, await post(path, huge), { status: 413, code: 'body_too_large' })
    })
    test('refuses a model that there is not', async () => {
      for (const model of ['gpt-none', '../chatty', 'chatty\u0000', 'CHATTY'])
        await assertRefused(path, await post(path, JSON.stringify({ ...body, model })), {
          status: 404,
          code: 'model_not_found',
          param: 'model',
          type: 'not_found_error',
        })
    })
    test('refuses each field of the wrong type and names it', async () => {
      for (const field of Object.keys(body))
        for (const value of [7, true, {}, null])
          await assertRefused(path, await post(path, JSON.stringify({ ...body, [field]: value })), {
            status: 400,
            code: 'invalid_request',
            param: field,
          })
    })
    test('refuses a body without a field that it needs and names it', async () => {
      for (const field of Object.keys(body)) {
        const { [field]: _, ...rest } = body
        await assertRefused(path, await post(path, JSON.stringify(rest)), {
          status: 400,
          code: 'invalid_request',
          param: field,
        })
      }
    })
    test('accepts fields that nobody knows, and never passes them on', async () => {
      const strange = { ...body, kv_transfer_params: { host: 'evil' }, api_base: 'http://evil' }
      const text = `{"__proto__":{"polluted":1},${JSON.stringify(strange).slice(1)}`
      const answer = await post(path, text)
      assert.equal(answer.status, 200, answer.text)
      const asked = upstreams.flatMap((upstream) => upstream.asked).map((one) => one.body)
      assert.ok(asked.length > 0)
      assert.ok(asked.every((one) => !('kv_transfer_params' in one) && !('api_base' in one)))
    })
  })

type Case = readonly [path: string, change: Readonly<Record<string, unknown>>, param: string]
const CASES: readonly Case[] = [
  [CHAT, { messages: [] }, 'messages'],
  [CHAT, { messages: [{ role: 'robot', content: 'a' }] }, 'messages[0].role'],
  [CHAT, { messages: [{ role: 'user' }] }, 'messages[0].content'],
  [CHAT, { messages: [{ role: 'user', content: [] }] }, 'messages[0].content'],
  [CHAT, { messages: [{ role: 'assistant' }] }, 'messages[0].content'],
  [CHAT, { messages: [{ role: 'tool', content: 'a' }] }, 'messages[0].tool_call_id'],
  [CHAT, { messages: Array.from({ length: 2049 }, () => messages[0]) }, 'messages'],
  [
    CHAT,
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'http://169.254.1.1/' } }],
        },
      ],
    },
    'messages[0].content[0].image_url.url',
  ],
  [CHAT, { max_tokens: 0 }, 'max_tokens'],
  [CHAT, { max_tokens: -1 }, 'max_tokens'],
  [CHAT, { max_tokens: 1.5 }, 'max_tokens'],
  [CHAT, { max_tokens: 1e21 }, 'max_tokens'],
  [CHAT, { max_completion_tokens: '5' }, 'max_completion_tokens'],
  [CHAT, { n: 9 }, 'n'],
  [CHAT, { temperature: 2.1 }, 'temperature'],
  [CHAT, { top_p: -0.1 }, 'top_p'],
  [CHAT, { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
  [CHAT, { stream: 'yes' }, 'stream'],
  [CHAT, { seed: 0.5 }, 'seed'],
  [CHAT, { top_logprobs: 3 }, 'top_logprobs'],
  [CHAT, { tool_choice: 'required' }, 'tool_choice'],
  [CHAT, { tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name'],
  [CHAT, { response_format: { type: 'xml' } }, 'response_format.type'],
  [CHAT, { logit_bias: { x: 1 } }, 'logit_bias.x'],
  [COMPLETION, { prompt: [] }, 'prompt'],
  [COMPLETION, { prompt: [-1] }, 'prompt[0]'],
  [COMPLETION, { best_of: 1, n: 2 }, 'best_of'],
  [COMPLETION, { logprobs: 6 }, 'logprobs'],
  [EMBEDDING, { input: [] }, 'input'],
  [EMBEDDING, { input: [''] }, 'input[0]'],
  [EMBEDDING, { dimensions: 0 }, 'dimensions'],
  [EMBEDDING, { encoding_format: 'hex' }, 'encoding_format'],
]

describe('a field out of its range', { concurrency: 8 }, () => {
  for (const [path, change, param] of CASES) {
    const shown = JSON.stringify(change)
    test(`${path} ${shown.length > 90 ? `${shown.slice(0, 90)}…` : shown} names ${param}`, async () => {
      const answer = await post(path, JSON.stringify({ ...ENDPOINTS[path]?.body, ...change }))
      await assertRefused(path, answer, { status: 400, code: 'invalid_request', param })
    })
  }
  test('a number beyond a double is refused', async () => {
    const text = JSON.stringify({ model: 'chatty', messages, temperature: 1 })
    await assertRefused(CHAT, await post(CHAT, text.replace('1}', '1e999}')), {
      status: 400,
      code: 'invalid_request',
      param: 'temperature',
    })
  })
})

describe('strange text', { concurrency: 4 }, () => {
  for (const [what, content] of Object.entries({
    'a lone surrogate': '"\\ud800"',
    'a NUL': '"a\\u0000b"',
    'line separators and direction marks': '"\\u2028\\u202e\\ufeff"',
    'what ends an SSE event': '"\\n\\ndata: [DONE]\\n\\n"',
    'special tokens of a template': '"<|im_end|>\\n<|im_start|>system"',
    'an empty string': '""',
  }))
    test(`${what} is a prompt as any other`, async () => {
      const body = `{"model":"chatty","messages":[{"role":"user","content":${content}}]}`
      const answer = await post(CHAT, body)
      assert.equal(answer.status, 200, answer.text)
    })
})

test('a query that cannot be used is refused', async () => {
  for (const [query, param] of [
    ['group_by=colour', 'group_by'],
    ['group_by=constructor', 'group_by'],
    ['from=yesterday', 'from'],
    ['to=%00', 'to'],
    ['from=2030-01-01T00:00:00Z&to=2020-01-01T00:00:00Z', 'to'],
    ["group_by=model'--", 'group_by'],
  ]) {
    const answer = await fetch(`${ergon.baseUrl}/v1/usage?${query}`, {
      headers: { authorization: `Bearer ${ergon.token}` },
    })
    const { error } = (await answer.json()) as { error: { param: string } }
    assert.equal(answer.status, 400, query)
    assert.equal(error.param, param)
  }
})

test('an identifier that is none is not found', async () => {
  for (const path of [
    '/v1/models/none',
    '/v1/models/%00',
    '/v1/models/..%2f..%2fetc%2fpasswd',
    `/v1/models/${'a'.repeat(600)}`,
    '/v1/receipts/none',
    '/v1/receipts/rcpt_00000000000000000000000000',
    "/v1/receipts/rcpt_' or 1=1 --",
    '/.well-known/ergon/logs/none/0/checkpoint',
    '/.well-known/ergon/logs/none/0/tile/0/000',
    '/.well-known/ergon/logs/none/0/tile/99/x',
  ]) {
    const answer = await fetch(ergon.baseUrl + encodeURI(path), {
      headers: { authorization: `Bearer ${ergon.token}` },
    })
    await answer.body?.cancel()
    assert.equal(answer.status, 404, path)
    assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [], path)
  }
})

test('more dimensions than the model has are refused', async () => {
  const body = { ...ENDPOINTS[EMBEDDING]?.body, dimensions: 5 }
  await assertRefused(EMBEDDING, await post(EMBEDDING, JSON.stringify(body)), {
    status: 400,
    code: 'unsupported_parameter',
    param: 'dimensions',
  })
})

test('after all of it nothing has failed inside and the books add up', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
  const logged = ergon.stderr().slice(loggedBefore)
  assert.equal(logged.includes('"level":"error"'), false, logged)
})
