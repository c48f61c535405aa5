// Clients that nobody here wrote, against the handlers over real HTTP.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { embed, generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { systemClock } from '#base/clock.ts'
import {
  parseChatRequest,
  parseCompletionRequest,
  parseEmbeddingRequest,
} from '#contract/inference/inference.ts'
import { createChatCreate } from './operations/chat-create.ts'
import { createCompletionCreate } from './operations/completion-create.ts'
import { createEmbeddingCreate } from './operations/embedding-create.ts'
import { createModelList } from './operations/model-list.ts'
import { createOpenaiProvider } from './providers/openai/openai-provider.ts'
import type { Provider } from './providers/provider.ts'
import { bind, openTestProtocol, type TestProtocol } from './testing/test-protocol.ts'
import { depsOf, offerOf, quietLog } from './testing/offers.ts'
import {
  cellChunk,
  cellHello,
  DONE,
  frame,
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from './testing/scripted-upstream.ts'

let upstream: ScriptedUpstream
let provider: Provider
let server: TestProtocol
let openai: OpenAI
const messages = [{ role: 'user' as const, content: 'Hi' }]
const vector = [0.5, 0.25, -1]

before(async () => {
  upstream = await startScriptedUpstream('socket', streaming())
  provider = createOpenaiProvider(
    { name: 'cell-small', at: { kind: 'cell', socketPath: upstream.socketPath } },
    { clock: systemClock, log: quietLog },
  )
  const embedding = offerOf({ id: 'mini', modalities: ['embedding'], embeddingDimensions: 3 })
  const deps = depsOf([offerOf(), embedding], [provider])
  server = await openTestProtocol({
    'POST /v1/chat/completions': bind(parseChatRequest, createChatCreate(deps)),
    'POST /v1/completions': bind(parseCompletionRequest, createCompletionCreate(deps)),
    'POST /v1/embeddings': bind(parseEmbeddingRequest, createEmbeddingCreate(deps)),
    'GET /v1/models': bind(() => undefined, createModelList(deps)),
  })
  openai = new OpenAI({ baseURL: server.baseUrl, apiKey: 'svc_test', maxRetries: 0 })
})
after(async () => {
  server.close()
  await provider.close()
  await upstream.close()
})
beforeEach(() => {
  server.holdNj = undefined
  upstream.script = (asked, response) => {
    if (asked.path !== '/v1/embeddings') return streaming(...cellHello)(asked, response)
    const ergon = { cpu_ns: '9', prompt_tokens: 1, completion_tokens: 0 }
    const text = Buffer.from(Float32Array.from(vector).buffer).toString('base64')
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.end(`${JSON.stringify({ index: 0, embedding: text, ergon })}\n`)
  }
})

test('openai reads a whole answer whose usage is the header', async () => {
  const { data, response } = await openai.chat.completions
    .create({ model: 'auto', messages })
    .withResponse()
  assert.equal(data.choices[0]?.message.content, 'Hello world')
  const usage = data.usage as unknown as { energy_j: number }
  assert.equal(String(usage.energy_j), response.headers.get('x-energy-joules'))
  assert.match(response.headers.get('x-router-reason') ?? '', /^L0: /)
})

test('openai reads a stream with its usage, by chunks and by .stream()', async () => {
  const chunks = await openai.chat.completions.create({
    model: 'auto',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  let usage: object | null | undefined
  for await (const chunk of chunks) {
    text += chunk.choices[0]?.delta.content ?? ''
    usage = chunk.usage ?? usage
  }
  assert.equal(text, 'Hello world')
  assert.ok(usage !== null && usage !== undefined && 'energy_j' in usage)
  const whole = await openai.chat.completions
    .stream({ model: 'auto', messages })
    .finalChatCompletion()
  assert.equal(whole.choices[0]?.message.content, 'Hello world')
  assert.equal(whole.choices[0]?.finish_reason, 'stop')
})

test('openai reads streamed tool calls', async () => {
  upstream.script = streaming(
    cellChunk(
      { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{' } }] },
      [1, 1, 1],
    ),
    cellChunk(
      { tool_calls: [{ index: 0, function: { arguments: '}' } }] },
      [2, 1, 2],
      'tool_calls',
    ),
    DONE,
  )
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters: {} } }]
  const whole = await openai.chat.completions
    .stream({ model: 'auto', messages, tools })
    .finalChatCompletion()
  const [call] = whole.choices[0]?.message.tool_calls ?? []
  assert.ok(call?.type === 'function')
  assert.deepEqual([call.id, call.function.name, call.function.arguments], ['c', 'f', '{}'])
})

test('openai reads embeddings, which it asks for as base64', async () => {
  const { data } = await openai.embeddings.create({ model: 'auto', input: 'Hi' })
  assert.deepEqual(data[0]?.embedding, vector)
})

test('openai reads completions and the model list', async () => {
  upstream.script = streaming(
    frame({
      choices: [{ index: 0, text: 'yes', finish_reason: 'stop' }],
      ergon: { cpu_ns: '5', prompt_tokens: 2, completion_tokens: 1 },
    }),
    DONE,
  )
  const { choices } = await openai.completions.create({ model: 'auto', prompt: 'Is it?' })
  assert.equal(choices[0]?.text, 'yes')
  const ids: string[] = []
  for await (const model of openai.models.list()) ids.push(model.id)
  assert.deepEqual(ids, ['small', 'mini', 'auto'])
})

test('openai sees the fault of a request and its field', async () => {
  const wrong = openai.chat.completions.create({ model: 'auto', messages, temperature: 9 })
  await assert.rejects(wrong, { status: 400, code: 'invalid_request', param: 'temperature' })
  const unknown = openai.chat.completions.create({ model: 'gpt-9', messages })
  await assert.rejects(unknown, { status: 404, code: 'model_not_found' })
})

const dear = [cellChunk({ content: 'a' }, [1, 5, 1]), cellChunk({ content: 'b' }, [1e9, 5, 2])]

test('openai and the AI SDK raise the error of a stream that is cut', async () => {
  upstream.script = streaming(...dear)
  server.holdNj = 1_000_000_000n
  const stream = await openai.chat.completions.create({ model: 'auto', messages, stream: true })
  let text = ''
  const read = async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  }
  await assert.rejects(read, { code: 'balance_depleted', type: 'insufficient_quota' })
  assert.equal(text, 'a')
  const errors: unknown[] = []
  const result = streamText({
    model: aiSdk()('auto'),
    prompt: 'Hi',
    onError: ({ error }) => void errors.push(error),
  })
  await result.consumeStream({ onError: (error) => void errors.push(error) })
  assert.match(JSON.stringify(errors), /hold is used up/)
})

const aiSdk = () =>
  createOpenAICompatible({
    name: 'ergon',
    baseURL: server.baseUrl,
    apiKey: 'svc_test',
    includeUsage: true,
  })

test('the AI SDK generates, streams and embeds', async () => {
  const whole = await generateText({ model: aiSdk()('auto'), prompt: 'Hi' })
  assert.equal(whole.text, 'Hello world')
  const stream = streamText({ model: aiSdk()('auto'), prompt: 'Hi' })
  let text = ''
  for await (const piece of stream.textStream) text += piece
  assert.equal(text, 'Hello world')
  assert.equal(await stream.finishReason, 'stop')
  assert.equal((await stream.usage).totalTokens, 7)
  const { embedding } = await embed({ model: aiSdk().textEmbeddingModel('auto'), value: 'Hi' })
  assert.deepEqual(embedding, vector)
})

test('LangChain invokes, streams and embeds', async () => {
  const settings = {
    model: 'auto',
    apiKey: 'svc_test',
    configuration: { baseURL: server.baseUrl },
    maxRetries: 0,
  }
  const chat = new ChatOpenAI(settings)
  assert.equal((await chat.invoke('Hi')).content, 'Hello world')
  let text = ''
  for await (const chunk of await chat.stream('Hi')) text += String(chunk.content)
  assert.equal(text, 'Hello world')
  assert.deepEqual(await new OpenAIEmbeddings(settings).embedQuery('Hi'), vector)
})

test('every request of these clients kept to the protocol of charging', () => {
  assert.ok(server.spends.length >= 10)
  for (const spend of server.spends) assert.notEqual(spend.settled, undefined)
})
