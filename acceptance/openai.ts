// The openai package, as anybody would use it after changing its base address and key.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import OpenAI from 'openai'
import {
  chargeOn,
  collect,
  cosine,
  countingFetch,
  key,
  needing,
  offered,
  QUESTION,
  WEATHER_TOOL,
} from './world.ts'

const messages = [{ role: 'user' as const, content: QUESTION }]
const ask = () => ({ model: offered('chat'), messages, temperature: 0, max_tokens: 32 })
const tool = { type: 'function' as const, function: WEATHER_TOOL }
type Figures = { energy_j: number; carbon_mg: number }

const client = (more: { apiKey?: string; fetch?: typeof fetch; baseURL?: string } = {}) =>
  new OpenAI({ ...key(), ...more })

describe('openai: chat', () => {
  const test = needing('chat')

  test('a model knows the capital of France; header and body have the same figures', async () => {
    const { data, response } = await client().chat.completions.create(ask()).withResponse()
    assert.match(data.choices[0]?.message.content ?? '', /Paris/)
    assert.equal(data.model, offered('chat'))
    assert.equal(data.object, 'chat.completion')
    assert.equal(data.choices[0]?.finish_reason, 'stop')
    const usage = data.usage as NonNullable<typeof data.usage> & Figures
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
    assert.equal(String(usage.energy_j), response.headers.get('x-energy-joules'))
    assert.equal(String(usage.carbon_mg), response.headers.get('x-carbon-mg'))
  })

  test('model auto is routed, and the reason is told', async () => {
    const { data, response } = await client()
      .chat.completions.create({ ...ask(), model: 'auto' })
      .withResponse()
    assert.equal((await client().models.retrieve(data.model)).id, data.model)
    assert.match(response.headers.get('x-tier') ?? '', /^L[0-3]$/)
    assert.match(response.headers.get('x-router-reason') ?? '', /^L[0-3]: ./)
  })

  test('streams, with the usage in a chunk of its own when that is asked for', async () => {
    const { data, response } = await client()
      .chat.completions.create({ ...ask(), stream: true, stream_options: { include_usage: true } })
      .withResponse()
    let text = ''
    const usages: (object | null | undefined)[] = []
    for await (const chunk of data) {
      text += chunk.choices[0]?.delta.content ?? ''
      usages.push(chunk.usage)
      if (chunk.usage) assert.deepEqual(chunk.choices, [])
    }
    assert.match(text, /Paris/)
    const last = usages.at(-1) as Figures
    assert.ok(last.energy_j > 0)
    assert.ok(usages.slice(0, -1).every((usage) => usage === null))
    assert.equal(response.headers.get('x-energy-estimate'), 'ceiling')
    assert.ok(Number(response.headers.get('x-energy-joules')) >= last.energy_j)
  })

  test('streams with the running energy and its ceiling, which the SDK hands on', async () => {
    const asked = { stream_options: { include_usage: true, include_energy: true } }
    const { data, response } = await client()
      .chat.completions.create({ ...ask(), ...asked, stream: true })
      .withResponse()
    let text = ''
    const energies: { energy_nj: string; ceiling_nj: string }[] = []
    let last: Figures | undefined
    for await (const chunk of data) {
      text += chunk.choices[0]?.delta.content ?? ''
      const { energy } = chunk as { energy?: { energy_nj: string; ceiling_nj: string } }
      if (energy !== undefined) energies.push(energy)
      if (chunk.usage) last = chunk.usage as unknown as Figures
    }
    assert.match(text, /Paris/)
    assert.ok(energies.length > 0)
    const joules = energies.map((energy) => Number(energy.energy_nj) / 1e9)
    assert.deepEqual(
      joules,
      joules.toSorted((a, b) => a - b),
      'it never falls',
    )
    const ceiling = Number(response.headers.get('x-energy-joules'))
    for (const energy of energies) assert.equal(Number(energy.ceiling_nj) / 1e9, ceiling)
    assert.ok((last?.energy_j ?? 0) <= ceiling)
    const helped = client().chat.completions.stream({ ...ask(), ...asked })
    assert.match((await helped.finalChatCompletion()).choices[0]?.message.content ?? '', /Paris/)
  })

  test('streams without asking for usage: the figures ride on the last choice', async () => {
    const stream = await client().chat.completions.create({ ...ask(), stream: true })
    const chunks = await collect(stream)
    assert.ok(chunks.every((chunk) => chunk.choices.length === 1))
    const last = chunks.at(-1)
    assert.equal(last?.choices[0]?.finish_reason, 'stop')
    const usage = last?.usage as unknown as Figures | undefined
    assert.ok((usage?.energy_j ?? 0) > 0)
  })

  test('.stream() puts the answer together', async () => {
    const whole = await client().chat.completions.stream(ask()).finalChatCompletion()
    assert.match(whole.choices[0]?.message.content ?? '', /Paris/)
  })

  test('a named tool is called with arguments of its schema', async () => {
    const { choices } = await client().chat.completions.create({
      ...ask(),
      messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      max_tokens: 64,
    })
    const [call] = choices[0]?.message.tool_calls ?? []
    assert.ok(call?.type === 'function')
    assert.equal(call.function.name, 'get_weather')
    const given = JSON.parse(call.function.arguments) as { city: string }
    assert.deepEqual(Object.keys(given), ['city'])
    assert.equal(typeof given.city, 'string')
  })

  test('a JSON schema holds', async () => {
    const { choices } = await client().chat.completions.create({
      ...ask(),
      max_tokens: 64,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'answer',
          strict: true,
          schema: {
            type: 'object',
            properties: { capital: { type: 'string' }, sure: { type: 'boolean' } },
            required: ['capital', 'sure'],
            additionalProperties: false,
          },
        },
      },
    })
    const answer = JSON.parse(choices[0]?.message.content ?? '') as Record<string, unknown>
    assert.deepEqual(Object.keys(answer).toSorted(), ['capital', 'sure'])
    assert.equal(typeof answer['capital'], 'string')
    assert.equal(typeof answer['sure'], 'boolean')
  })

  test('max_tokens ends the answer and says so', async () => {
    const { choices, usage } = await client().chat.completions.create({ ...ask(), max_tokens: 2 })
    assert.equal(choices[0]?.finish_reason, 'length')
    assert.equal(usage?.completion_tokens, 2)
  })

  test('two choices are two answers', async () => {
    const { choices } = await client().chat.completions.create({ ...ask(), n: 2 })
    assert.deepEqual(
      choices.map(({ index }) => index),
      [0, 1],
    )
  })
})

describe('openai: completions, models', () => {
  const test = needing('chat')

  test('a legacy completion answers and streams', async () => {
    const prompt = { model: offered('chat'), prompt: 'The capital of France is', max_tokens: 8 }
    const whole = await client().completions.create(prompt)
    assert.equal(whole.object, 'text_completion')
    assert.equal(typeof whole.choices[0]?.text, 'string')
    let text = ''
    const stream = await client().completions.create({ ...prompt, stream: true })
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? ''
    assert.ok(text.length > 0)
  })

  test('the models are listed with their tiers, and one can be asked for', async () => {
    const id = offered('chat')
    const models = await collect(client().models.list())
    const model = models.find((each) => each.id === id) as unknown as Record<string, unknown>
    assert.match(String((model['tiers'] as string[])[0]), /^L[0-3]$/)
    assert.match(String(model['class']), /^(demo|standard|large)$/)
    assert.ok(Number(model['context_length']) > 0)
    assert.equal((await client().models.retrieve(id)).id, id)
    await assert.rejects(client().models.retrieve('gpt-none'), OpenAI.NotFoundError)
  })
})

describe('openai: embeddings', () => {
  const test = needing('embedding')

  test('auto embeds, and names the model', async () => {
    const { data, model } = await client().embeddings.create({ model: 'auto', input: 'Hello' })
    assert.ok((data[0]?.embedding.length ?? 0) > 0)
    assert.equal((await client().models.retrieve(model)).id, model)
  })

  test('texts of like meaning have like vectors', async () => {
    const input = ['The cat sits on the mat', 'A kitten rests on a rug', 'Interest rates rose']
    const { data } = await client().embeddings.create({ model: offered('embedding'), input })
    const [cat = [], kitten = [], rates = []] = data.map(({ embedding }) => embedding)
    assert.ok(cosine(cat, kitten) > cosine(cat, rates) + 0.2)
  })

  test('float and base64 are the same vector', async () => {
    const request = { model: offered('embedding'), input: 'Hello' }
    const [float, base64] = await Promise.all([
      client().embeddings.create({ ...request, encoding_format: 'float' }),
      // The SDK asks for base64 by itself and decodes it.
      client().embeddings.create(request),
    ])
    assert.ok(cosine(float.data[0]!.embedding, base64.data[0]!.embedding) > 0.999_999)
  })

  test('dimensions that no model has are refused', async () => {
    const asked = client().embeddings.create({ model: 'auto', input: 'a', dimensions: 9999 })
    await assert.rejects(asked, { status: 400, param: 'dimensions' })
  })
})

describe('openai: errors', () => {
  type Class = new (...parts: never[]) => Error
  type Expected = { status: number; code: string }
  const asking = (name: string, more: () => object, type: Class, expected: Expected) =>
    needing('chat')(
      `${name} is raised as ${expected.status} ${expected.code}, after one request`,
      () => assertRaises(key().apiKey, more(), type, expected),
    )
  const refused = (name: 'depleted' | 'unfunded', type: Class, expected: Expected) =>
    needing('chat', name)(`${expected.status} ${expected.code} is raised after one request`, () =>
      assertRaises(offered(name), {}, type, expected),
    )

  async function assertRaises(
    apiKey: string,
    more: object,
    type: Class,
    { status, code }: Expected,
  ): Promise<void> {
    const counting = countingFetch()
    const asked = client({ apiKey, fetch: counting.fetch }).chat.completions.create({
      ...ask(),
      ...more,
    })
    const error = await asked.then(
      () => assert.fail('it was answered'),
      (raised: InstanceType<typeof OpenAI.APIError>) => raised,
    )
    assert.ok(error instanceof type)
    assert.equal(error.status, status)
    assert.equal(error.code, code)
    assert.match(error.requestID ?? '', /^req_/)
    assert.match(error.headers?.get('x-receipt-id') ?? '', /^rcpt_/)
    assert.equal(counting.count(), 1)
  }

  needing('chat')('an unknown token is raised as 401 token_unknown, after one request', () =>
    assertRaises(`svc_${'a'.repeat(38)}`, {}, OpenAI.AuthenticationError, {
      status: 401,
      code: 'token_unknown',
    }),
  )
  refused('depleted', OpenAI.APIError, { status: 402, code: 'balance_depleted' })
  refused('unfunded', OpenAI.RateLimitError, { status: 429, code: 'free_tier_exceeded' })
  asking('an unknown model', () => ({ model: 'gpt-none' }), OpenAI.NotFoundError, {
    status: 404,
    code: 'model_not_found',
  })
  asking('a wrong field', () => ({ temperature: 9 }), OpenAI.BadRequestError, {
    status: 400,
    code: 'invalid_request',
  })
  needing('chat')(
    'a prompt that is too long is raised as 400 context_length_exceeded',
    async () => {
      const model = await client().models.retrieve(offered('chat'))
      const { context_length: tokens } = model as unknown as { context_length: number }
      const content = 'word '.repeat(3 * tokens)
      await assertRaises(
        key().apiKey,
        { messages: [{ role: 'user', content }] },
        OpenAI.BadRequestError,
        { status: 400, code: 'context_length_exceeded' },
      )
    },
  )

  needing('chat')('leaving in mid-stream ends the work and is charged', async () => {
    const { data, response } = await client()
      .chat.completions.create({
        ...ask(),
        messages: [{ role: 'user', content: 'Tell me a long story.' }],
        max_tokens: 500,
        stream: true,
      })
      .withResponse()
    for await (const _ of data) break
    data.controller.abort()
    const receipt = response.headers.get('x-receipt-id') ?? ''
    assert.equal((await chargeOn(receipt)).status, 499)
    assert.match(
      (await client().chat.completions.create(ask())).choices[0]?.message.content ?? '',
      /Paris/,
    )
  })
})
