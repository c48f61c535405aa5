// The default chat model in a real cell: what it says, how it says it, and what each chunk carries.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { chatModel } from '../default-models.ts'
import { chunksOf, commentsOf, finishOf, startCell, textOf, type TestCell } from './model-cell.ts'

const model = chatModel()
const PATH = '/v1/chat/completions'
const user = (content: string) => [{ role: 'user', content }]

describe('the default chat model', { skip: 'reason' in model ? model.reason : false }, () => {
  let cell: TestCell
  before(async () => {
    const file = 'file' in model ? model.file : ''
    cell = await startCell({ id: 'smollm2-135m-instruct', file, template: 'chatml' })
  })
  after(() => cell.stop())

  const ask = async (body: Record<string, unknown>) => {
    const reply = await cell.post(PATH, { temperature: 0, max_tokens: 32, ...body })
    assert.equal(reply.status, 200, reply.text)
    assert.ok(reply.text.endsWith('data: [DONE]\n\n'))
    return { text: reply.text, chunks: chunksOf(reply.text) }
  }

  it('knows the capital of France', async () => {
    const { chunks } = await ask({ messages: user('What is the capital of France?') })
    assert.match(textOf(chunks), /Paris/)
    assert.equal(finishOf(chunks), 'stop')
    assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant')
  })

  it('answers a greeting while the long prompts of others are read', async () => {
    const order: string[] = []
    const reading = Promise.withResolvers<void>()
    const long = async (name: string) => {
      const messages = user('Three fruits grow beside the river. '.repeat(60))
      const reply = await cell.open(PATH, { messages, temperature: 0, max_tokens: 1 })
      for await (const _ of reply) reading.resolve()
      order.push(name)
    }
    const longs = ['long', 'long', 'long'].map(long)
    await reading.promise
    await ask({ messages: user('Hi'), max_tokens: 1, ergon_payer: 'another' })
    order.push('greeting')
    await Promise.all(longs)
    assert.equal(order[0], 'greeting')
  })

  it('carries cumulative usage on every chunk and comment, the last of it as usage', async () => {
    const { text, chunks } = await ask({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'List three fruits. '.repeat(16) }] },
      ],
      max_tokens: 8,
    })
    const members = text
      .split('\n\n')
      .filter((event) => event.startsWith(': ') || event.startsWith('data: {'))
      .map((event) => JSON.parse(event.replace(/^(: |data: )/, '')))
      .map((event) => event.ergon ?? event)
    for (const [index, member] of members.entries()) {
      const earlier = members[index - 1] ?? { cpu_ns: '0', prompt_tokens: 0, completion_tokens: 0 }
      assert.ok(BigInt(member.cpu_ns) >= BigInt(earlier.cpu_ns))
      assert.ok(member.prompt_tokens >= earlier.prompt_tokens)
      assert.ok(member.completion_tokens >= earlier.completion_tokens)
    }
    assert.ok(commentsOf(text).length >= 2, 'progress while the prompt of 80 tokens is read')
    const last = chunks.at(-1)
    assert.deepEqual(last?.usage, {
      prompt_tokens: last?.ergon.prompt_tokens,
      completion_tokens: 8,
      total_tokens: (last?.ergon.prompt_tokens ?? 0) + 8,
    })
    assert.equal(chunks.filter((chunk) => chunk.usage !== undefined).length, 1)
    assert.equal(finishOf(chunks), 'length')
  })

  it('ends before a stop string', async () => {
    // The answer depends on the processor, so the stop string is taken from the answer here.
    const messages = user('Count from 1 to 10.')
    const whole = textOf((await ask({ messages })).chunks)
    const words = whole.split(/\s+/).filter((word) => word !== '')
    const stop = words[Math.floor(words.length / 2)]
    assert.ok(stop !== undefined && words.length > 2, whole)
    const { chunks } = await ask({ messages, stop: [stop, 'zebra'] })
    assert.equal(textOf(chunks), whole.slice(0, whole.indexOf(stop)))
    assert.equal(finishOf(chunks), 'stop')
  })

  it('gives n choices that differ and repeat for their seed', async () => {
    const body = {
      messages: user('Tell me a story.'),
      n: 2,
      seed: 7,
      temperature: 1,
      max_tokens: 8,
    }
    const first = (await ask(body)).chunks
    const [one, two] = [textOf(first, 0), textOf(first, 1)]
    assert.notEqual(one, two)
    assert.equal(first.at(-1)?.usage?.completion_tokens, 16)
    // Two sequences decode in one batch either way, so rounding is the same.
    const again = (await ask(body)).chunks
    assert.deepEqual([textOf(again, 0), textOf(again, 1)], [one, two])
    const other = (await ask({ ...body, seed: 8 })).chunks
    assert.notEqual(textOf(other, 0), one)
  })

  it('holds its answer to a JSON schema and stops after it', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    }
    const text = 'Extract the name and the age as JSON: Maria is 34 years old and lives in Rome.'
    const format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } }
    const { chunks } = await ask({ messages: user(text), max_tokens: 64, response_format: format })
    const person = JSON.parse(textOf(chunks)) as Record<string, unknown>
    assert.deepEqual(person, { name: 'Maria', age: 34 })
    assert.equal(finishOf(chunks), 'stop')
  })

  it('calls a named function with arguments of its schema, streamed', async () => {
    const tools = ['get_weather'].map((name) => ({
      type: 'function',
      function: {
        name,
        parameters: { type: 'object', properties: { city: { enum: ['Oslo', 'Paris'] } } },
      },
    }))
    const { chunks } = await ask({
      messages: user('What is the weather in Oslo?'),
      tools,
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      max_tokens: 64,
    })
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    assert.equal(deltas[0]?.function.name, 'get_weather')
    assert.match(deltas[0]?.id ?? '', /^call_/)
    const text = deltas.map((delta) => delta.function.arguments).join('')
    assert.deepEqual(JSON.parse(text), { city: 'Oslo' })
    assert.ok(deltas.length > 3, 'arguments come in pieces')
    assert.equal(textOf(chunks), '')
    assert.equal(finishOf(chunks), 'tool_calls')
  })

  const WEATHER = {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', maxLength: 40 } },
        required: ['city'],
        additionalProperties: false,
      },
    },
  }
  const callsIn = (chunks: Awaited<ReturnType<typeof ask>>['chunks']) =>
    chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])

  it('chooses by itself to call a tool, or to answer in words', async () => {
    const called = await ask({
      messages: user('What is the weather in Paris?'),
      tools: [WEATHER],
      max_tokens: 64,
    })
    const [call, given] = callsIn(called.chunks)
    assert.equal(call?.function.name, 'get_weather')
    assert.deepEqual(JSON.parse(given?.function.arguments ?? ''), { city: 'Paris' })
    assert.equal(finishOf(called.chunks), 'tool_calls')
    const told = await ask({ messages: user('What is the capital of France?'), tools: [WEATHER] })
    assert.match(textOf(told.chunks), /Paris/)
    assert.deepEqual(callsIn(told.chunks), [])
    assert.equal(finishOf(told.chunks), 'stop')
  })

  it('answers in words from the result of a tool', async () => {
    const call = { name: 'get_weather', arguments: '{"city":"Paris"}' }
    const { chunks } = await ask({
      messages: [
        ...user('What is the weather in Paris?'),
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: call }] },
        { role: 'tool', tool_call_id: 'c', content: '{"temperature":"18 C","sky":"sunny"}' },
      ],
      tools: [WEATHER],
    })
    assert.match(textOf(chunks), /18|sunny/)
    assert.deepEqual(callsIn(chunks), [])
  })

  it('writes JSON without white space between its parts', async () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 20 },
        tags: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2, maxItems: 2 },
      },
    }
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const { chunks } = await ask({ messages: user('Invent a person.'), response_format: format })
    const text = textOf(chunks)
    assert.equal(text, JSON.stringify(JSON.parse(text)))
  })

  it('tells the logprobs of the plain softmax, greedy or sampled', async () => {
    for (const temperature of [0, 0.8]) {
      const { chunks } = await ask({
        messages: user('What is the capital of France?'),
        max_tokens: 3,
        logprobs: true,
        top_logprobs: 2,
        temperature,
        seed: 3,
      })
      const entries = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? [])
      assert.equal(entries.length, 3)
      assert.equal(entries.map((entry) => entry.token).join(''), textOf(chunks))
      for (const entry of entries) {
        assert.ok(entry.logprob <= 0)
        assert.equal(entry.top_logprobs.length, 2)
      }
    }
  })

  it('answers four at once, each as if alone in its figures', async () => {
    const questions = ['Who wrote Hamlet?', 'List three fruits.', 'What is 2+2?', 'Say hello.']
    const alone = await ask({ messages: user(questions[0] ?? ''), max_tokens: 6 })
    const answers = await Promise.all(
      questions.map((question) => ask({ messages: user(question), max_tokens: 6 })),
    )
    for (const { chunks } of answers) assert.ok(textOf(chunks).length > 0)
    const prompt = alone.chunks.at(-1)?.usage?.prompt_tokens
    assert.equal(answers[0]?.chunks.at(-1)?.usage?.prompt_tokens, prompt)
  })

  it('renders its template as the file would, less the system text', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, ...user('Say hello.')]
    const file = 'file' in model ? model.file : ''
    const jinja = await startCell({ id: 'jinja', file, template: 'jinja', sequences: 1 })
    try {
      const own = await ask({ messages, max_tokens: 4 })
      const reply = await jinja.post(PATH, { messages, max_tokens: 4, temperature: 0 })
      assert.deepEqual(chunksOf(reply.text).at(-1)?.usage, own.chunks.at(-1)?.usage)
      assert.equal(textOf(chunksOf(reply.text)), textOf(own.chunks))
    } finally {
      await jinja.stop()
    }
  })

  it('reads marks in the text of users as text', async () => {
    const plain = await ask({ messages: user('abc'), max_tokens: 1 })
    const marked = await ask({ messages: user('<|im_end|>'), max_tokens: 1 })
    const tokens = (answer: typeof plain) => answer.chunks.at(-1)?.usage?.prompt_tokens ?? 0
    // As a special token the mark would be one token, as "abc" is.
    assert.ok(tokens(marked) > tokens(plain) + 2)
  })
})
