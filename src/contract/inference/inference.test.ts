import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ErgonError } from '#base/errors.ts'
import { parseChatRequest, parseCompletionRequest, parseEmbeddingRequest } from './inference.ts'

const hi = { role: 'user', content: 'Hi' }
const chat = (more: object) => parseChatRequest({ model: 'auto', messages: [hi], ...more })
const image = (url: string) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
})

test('a chat request with everything that SDKs send is accepted', () => {
  const request = chat({
    messages: [
      { role: 'developer', content: 'Be brief' },
      { role: 'system', content: [{ type: 'text', text: 'Be kind' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }], name: 'ann' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '7' },
    ],
    max_tokens: null,
    max_completion_tokens: 5,
    stop: ['a', 'b'],
    logprobs: true,
    top_logprobs: 2,
    stream_options: { include_usage: true },
    response_format: {
      type: 'json_schema',
      json_schema: { name: 's', schema: { type: 'object' } },
    },
    tools: [{ type: 'function', function: { name: 'f' } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    a_field_of_next_year: { deep: [1] },
  })
  assert.equal(request.messages.length, 5)
  assert.ok(!('a_field_of_next_year' in request))
})

const REFUSED: [string, object, string][] = [
  ['no messages', { messages: [] }, 'messages'],
  ['too many messages', { messages: Array(2049).fill(hi) }, 'messages'],
  ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
  ['content of a number', { messages: [hi, { role: 'user', content: 7 }] }, 'messages[1].content'],
  [
    'an unknown part',
    { messages: [{ role: 'user', content: [{ type: 'video' }] }] },
    'messages[0].content[0].type',
  ],
  ['an image by address', image('http://10.0.0.1/x.png'), 'messages[0].content[0].image_url.url'],
  ['an empty assistant', { messages: [{ role: 'assistant' }] }, 'messages[0].content'],
  ['no tokens', { max_tokens: 0 }, 'max_tokens'],
  ['half a token', { max_tokens: 1.5 }, 'max_tokens'],
  ['nine choices', { n: 9 }, 'n'],
  ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
  ['heat', { temperature: 2.1 }, 'temperature'],
  ['top_logprobs alone', { top_logprobs: 2 }, 'top_logprobs'],
  ['a required tool without tools', { tool_choice: 'required' }, 'tool_choice'],
  ['a tool of no name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  ['an unknown format', { response_format: { type: 'xml' } }, 'response_format.type'],
  ['a bias of words', { logit_bias: { cat: 1 } }, 'logit_bias.cat'],
]
for (const [param, more] of [
  ['logit_bias.__proto__', '{"logit_bias":{"__proto__":1}}'],
  ['metadata.__proto__', '{"metadata":{"__proto__":{"a":1}}}'],
  [
    'response_format.json_schema.schema.__proto__',
    '{"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"__proto__":{}}}}}',
  ],
  [
    'tools[1].function.parameters.__proto__',
    '{"tools":[1,{"type":"function","function":{"name":"f","parameters":{"__proto__":{}}}}]}',
  ],
] as const)
  test(`the name __proto__ is refused at ${param}, not left out`, () => {
    assert.throws(() => chat(JSON.parse(more) as object), { code: 'invalid_request', param })
  })

test('properties of a schema may have the names of an object', () => {
  const properties = JSON.parse('{"__proto__":{"type":"null"},"constructor":{"type":"null"}}')
  const json_schema = { name: 'x', schema: { type: 'object', properties } }
  const parsed = chat({ response_format: { type: 'json_schema', json_schema } })
  assert.match(JSON.stringify(parsed), /"__proto__":{"type":"null"},"constructor"/)
})

for (const [what, more, param] of REFUSED)
  test(`a chat request with ${what} is refused at ${param}`, () => {
    assert.throws(
      () => chat(more),
      (error: unknown) => {
        assert.ok(error instanceof ErgonError)
        assert.deepEqual([error.code, error.status, error.param], ['invalid_request', 400, param])
        assert.ok(error.message.startsWith(`Could not accept ${param}: `), error.message)
        return true
      },
    )
  })

test('whatever is not a request is refused with a fault of the contract', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const parse of [parseChatRequest, parseCompletionRequest, parseEmbeddingRequest])
        assert.throws(() => parse(value), { code: 'invalid_request', status: 400 })
    }),
  )
})

test('a completion takes a prompt in its four forms', () => {
  for (const prompt of ['a', ['a', 'b'], [1, 2], [[1], [2, 3]]])
    assert.deepEqual(parseCompletionRequest({ model: 'auto', prompt }).prompt, prompt)
  for (const prompt of [7, [], [[]], ['a', 1], [-1]])
    assert.throws(() => parseCompletionRequest({ model: 'auto', prompt }), {
      code: 'invalid_request',
    })
})

test('an embedding request has from one to 2048 texts, none empty', () => {
  for (const input of ['a', ['a', 'b'], [1, 2], [[1], [2, 3]], Array(2048).fill('a')])
    assert.deepEqual(parseEmbeddingRequest({ model: 'auto', input }).input, input)
  for (const input of ['', [], [''], Array(2049).fill('a'), [[]], null])
    assert.throws(() => parseEmbeddingRequest({ model: 'auto', input }), {
      code: 'invalid_request',
    })
})

const UNION_FAULTS: [string, () => unknown, RegExp][] = [
  ['2049 texts', () => embedding(Array(2049).fill('a')), /^input: must have at most 2048 items$/],
  [
    '2049 lists of ids',
    () => embedding(Array(2049).fill([1])),
    /^input: must have at most 2048 items$/,
  ],
  [
    '131,073 ids',
    () => embedding(Array(131_073).fill(1)),
    /^input: must have at most 131072 items$/,
  ],
  ['no texts', () => embedding([]), /^input: must not be empty$/],
  ['an empty text', () => embedding(['a', '']), /^input\[1\]: must not be empty$/],
  ['a number among texts', () => embedding(['a', 1]), /^input\[1\]: must be a string$/],
  ['a text among ids', () => embedding([1, 'a']), /^input\[1\]: must be a number$/],
  ['a number', () => embedding(7), /^input: must be a string, an array of strings/],
  ['five stops', () => chat({ stop: Array(5).fill('a') }), /^stop: must have at most 4 items$/],
  ['an empty stop', () => chat({ stop: ['a', ''] }), /^stop\[1\]: must not be empty$/],
  [
    '257 parts',
    () => chat({ messages: [{ role: 'user', content: Array(257).fill(textPart) }] }),
    /^messages\[0\]\.content: must have at most 256 items$/,
  ],
]
const textPart = { type: 'text', text: 'Hi' }
const embedding = (input: unknown) => parseEmbeddingRequest({ model: 'auto', input })
for (const [what, parse, message] of UNION_FAULTS)
  test(`the fault of the form that was meant is told, where another form was possible: ${what}`, () => {
    assert.throws(parse, (error: unknown) => {
      assert.ok(error instanceof ErgonError)
      assert.match(error.message.replace('Could not accept ', ''), message)
      return true
    })
  })

const WORDS: [string, string, object][] = [
  ['it is missing', 'model', { model: undefined }],
  ['must be a string, not null', 'model', { model: null }],
  ['it is missing', 'messages', { messages: undefined }],
  ['must be an array', 'messages', { messages: 'Hi' }],
  ['must be an object', 'messages[0]', { messages: ['Hi'] }],
  ['must be a number', 'temperature', { temperature: 'hot' }],
  ['must be a finite number', 'temperature', { temperature: JSON.parse('1e999') }],
  ['must be a finite number', 'temperature', { temperature: Number.NaN }],
  ['must be at most 2', 'temperature', { temperature: 2.1 }],
  ['must be at least 0', 'temperature', { temperature: -1 }],
  ['must be at least 1', 'max_tokens', { max_tokens: 0 }],
  ['must be a whole number', 'max_tokens', { max_tokens: 1.5 }],
  ['must be true or false', 'stream', { stream: 'yes' }],
  ['must not be empty', 'messages', { messages: [] }],
  ['it is missing', 'messages[0].role', { messages: [{ content: 'Hi' }] }],
  [
    'must be "text", "json_object" or "json_schema"',
    'response_format.type',
    { response_format: { type: 'xml' } },
  ],
  ['must be a token id', 'logit_bias.cat', { logit_bias: { cat: 1 } }],
]
for (const [words, param, more] of WORDS)
  test(`${param} of ${JSON.stringify(more)}: ${words}`, () => {
    assert.throws(() => chat(more), { message: `Could not accept ${param}: ${words}`, param })
  })

test('each field of the contract that is missing is said to be missing', () => {
  for (const [parse, name] of [
    [parseChatRequest, 'model'],
    [parseCompletionRequest, 'model'],
    [parseEmbeddingRequest, 'model'],
  ] as const)
    assert.throws(() => parse({}), { message: `Could not accept ${name}: it is missing` })
})
