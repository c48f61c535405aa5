// The cell's own behaviour, on a fixture model that answers in milliseconds: limits, errors, aborts, schemas,
// and where every nanosecond went.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ORDINARY_SCHEMAS } from '#inference/engine/grammar/ordinary-schemas.fixture.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { writeRandomLlama } from '../gguf/random-llama.ts'
import { nestedUnions } from './nested-unions.ts'
import { chunksOf, finishOf, startCell, textOf, type TestCell } from './model-cell.ts'

const CHAT = '/v1/chat/completions'
const user = (content: string) => [{ role: 'user', content }]
const errorOf = (text: string) =>
  (JSON.parse(text) as { error: { code: string; param: string | null } }).error

describe('a chat cell with a random model', () => {
  let folder: string
  let cell: TestCell
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ergon-random-'))
    const file = join(folder, 'random.gguf')
    writeRandomLlama(file, { width: 128, layers: 3 })
    cell = await startCell({ id: 'random', file, contextSize: 256, sequences: 3 })
  })
  after(async () => {
    await cell.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const endless = { messages: user('Hi'), temperature: 0 }

  it('lists its model', async () => {
    const { data } = JSON.parse((await cell.get('/v1/models')).text) as { data: object[] }
    const [entry] = data as { id: string; context_length: number }[]
    assert.deepEqual([entry?.id, entry?.context_length], ['random', 256])
  })

  it('caps the answer to what the context holds after the prompt', async () => {
    const chunks = chunksOf((await cell.post(CHAT, { ...endless, max_tokens: 100_000 })).text)
    const usage = chunks.at(-1)?.usage
    assert.equal(usage?.total_tokens, 256)
    assert.equal(finishOf(chunks), 'length')
    // A shifted context would be evaluated again and counted as input a second time.
    assert.equal(usage?.prompt_tokens, chunks[0]?.ergon.prompt_tokens)
  })

  it('refuses a prompt that fills the context, with its cost', async () => {
    const reply = await cell.post(CHAT, { messages: user('x'.repeat(300)) })
    assert.equal(reply.status, 400)
    assert.deepEqual(errorOf(reply.text).code, 'context_length_exceeded')
    assert.equal(errorOf(reply.text).param, 'messages')
    const { ergon } = JSON.parse(reply.text) as { ergon: { cpu_ns: string } }
    assert.ok(BigInt(ergon.cpu_ns) > 0n)
    const huge = await cell.post(CHAT, { messages: user('x'.repeat(200_000)) })
    assert.equal(errorOf(huge.text).code, 'context_length_exceeded')
  })

  const refused: [string, object, string, string][] = [
    ['no messages', {}, 'invalid_request', 'messages'],
    [
      'an unknown role',
      { messages: [{ role: 'robot', content: '' }] },
      'invalid_request',
      'messages[0].role',
    ],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'unsupported_parameter',
      'messages[0].content[0].type',
    ],
    [
      'a temperature above 2',
      { messages: user('a'), temperature: 3 },
      'invalid_request',
      'temperature',
    ],
    [
      'a bias of no token',
      { messages: user('a'), logit_bias: { '9999': 1 } },
      'invalid_request',
      'logit_bias',
    ],
    ['no tokens', { messages: user('a'), max_tokens: 0 }, 'invalid_request', 'max_tokens'],
    [
      'five stops',
      { messages: user('a'), stop: ['a', 'b', 'c', 'd', 'e'] },
      'invalid_request',
      'stop',
    ],
    ['nine choices', { messages: user('a'), n: 9 }, 'invalid_request', 'n'],
    [
      'top_logprobs alone',
      { messages: user('a'), top_logprobs: 2 },
      'invalid_request',
      'top_logprobs',
    ],
    [
      'audio',
      { messages: user('a'), modalities: ['text', 'audio'] },
      'unsupported_parameter',
      'modalities',
    ],
    [
      'a schema with a keyword that no grammar holds',
      {
        messages: user('a'),
        response_format: {
          type: 'json_schema',
          json_schema: {
            schema: { type: 'object', properties: { a: { not: { type: 'string' } } } },
          },
        },
      },
      'invalid_request',
      'response_format.json_schema',
    ],
    [
      'an unknown tool',
      {
        messages: user('a'),
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: { type: 'function', function: { name: 'g' } },
      },
      'invalid_request',
      'tool_choice',
    ],
    ['old functions', { messages: user('a'), functions: [] }, 'unsupported_parameter', 'functions'],
  ]
  for (const [name, body, code, param] of refused)
    it(`refuses ${name}`, async () => {
      const reply = await cell.post(CHAT, body)
      assert.equal(reply.status, 400, reply.text)
      assert.deepEqual([errorOf(reply.text).code, errorOf(reply.text).param], [code, param])
    })

  it('refuses other paths and methods', async () => {
    assert.equal((await cell.post('/v1/embeddings', { input: 'a' })).status, 404)
    assert.equal((await cell.get(CHAT)).status, 405)
  })

  it('answers with JSON when asked, whatever the model would like to say', async () => {
    const schema = {
      type: 'object',
      properties: { kind: { enum: ['a', 'b'] }, count: { type: 'boolean' } },
    }
    const reply = await cell.post(CHAT, {
      ...endless,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    const value = JSON.parse(textOf(chunksOf(reply.text))) as { kind: string; count: unknown }
    assert.ok(['a', 'b'].includes(value.kind))
    assert.equal(typeof value.count, 'boolean')
  })

  it('answers under unions of arrays of unions of arrays', async () => {
    const schema = nestedUnions(8, 8)
    const reply = await cell.post(CHAT, {
      ...endless,
      max_tokens: 40,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    assert.match(textOf(chunksOf(reply.text)), /^\{\s?"a":\s?\[/)
  })

  it('writes names and values of any characters exactly, and logs nothing of them', async () => {
    let log = ''
    cell.child.stderr?.on('data', (bytes: Buffer) => (log += bytes.toString()))
    const schemaOf = (name: string, values: readonly string[]) => ({
      type: 'object',
      properties: { [name]: { enum: values } },
    })
    const ask = async (schema: object) =>
      await cell.post(CHAT, {
        ...endless,
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      })
    for (const [name, values] of [
      ['our\0secret', ['our\0secret', 'x\u0001']],
      ['👍', ['👍', '👎']],
    ] as const) {
      const reply = await ask(schemaOf(name, values))
      assert.equal(reply.status, 200, reply.text)
      const answer = JSON.parse(textOf(chunksOf(reply.text))) as Record<string, string>
      assert.deepEqual(Object.keys(answer), [name])
      assert.ok(values.some((value) => value === answer[name]))
    }
    for (const half of [schemaOf('\ud83d', ['a']), schemaOf('a', ['\ud83d'])]) {
      const reply = await ask(half)
      assert.deepEqual(
        [reply.status, errorOf(reply.text).code, errorOf(reply.text).param],
        [400, 'invalid_request', 'response_format.json_schema'],
      )
    }
    assert.equal(log, '')
  })

  it('answers with a valid value for every ordinary schema', async () => {
    const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 9 })
    addFormats.default(ajv)
    for (const [name, schema] of Object.entries(ORDINARY_SCHEMAS)) {
      const format = { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } }
      // Its weights are random: what it writes may also be longer than its context.
      let text: string | undefined
      for (let seed = 0; text === undefined && seed < 8; seed++) {
        const body = { messages: user('a'), temperature: 1, seed, response_format: format }
        const reply = await cell.post(CHAT, body)
        assert.equal(reply.status, 200, `${name}: ${reply.text}`)
        const chunks = chunksOf(reply.text)
        if (finishOf(chunks) === 'stop') text = textOf(chunks)
      }
      assert.ok(text !== undefined, name)
      assert.ok(ajv.validate(schema, JSON.parse(text)), `${name}: ${text}`)
    }
  })

  it('never says a token of bias -100, and penalises what it said', async () => {
    const plain = textOf(chunksOf((await cell.post(CHAT, { ...endless, max_tokens: 40 })).text))
    const penalised = await cell.post(CHAT, {
      ...endless,
      max_tokens: 40,
      frequency_penalty: 2,
      presence_penalty: 2,
    })
    assert.notEqual(textOf(chunksOf(penalised.text)), plain)
    // Tokens of the fixture: three marks, the 256 bytes, U+2581, then printable ASCII from "!" on.
    const characters = [...new Set(plain)].filter((each) => each > ' ' && each <= '~')
    const tokensOf = (code: number) => [3 + code, 260 + code - 33]
    const bias = Object.fromEntries(
      characters.flatMap((each) => tokensOf(each.charCodeAt(0)).map((id) => [id, -100])),
    )
    assert.ok(characters.length > 0)
    const biased = textOf(
      chunksOf((await cell.post(CHAT, { ...endless, max_tokens: 40, logit_bias: bias })).text),
    )
    for (const character of characters) assert.ok(!biased.includes(character), character)
  })

  it('frees the sequence when the caller goes away, in prefill as in decode', async () => {
    for (const content of ['Hi', 'x'.repeat(180)])
      for (let round = 0; round < 4; round++) {
        const gone = new AbortController()
        const response = await cell.open(CHAT, { messages: user(content), n: 3 }, gone.signal)
        response.on('error', () => {})
        await once(response, 'data')
        gone.abort()
      }
    // With three sequences, twelve lost choices each time would leave none.
    const reply = await cell.post(CHAT, { ...endless, n: 3, max_tokens: 4 })
    assert.equal(chunksOf(reply.text).at(-1)?.usage?.completion_tokens, 12)
  })

  it('runs more choices than it has sequences', async () => {
    const chunks = chunksOf((await cell.post(CHAT, { ...endless, n: 8, max_tokens: 3 })).text)
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, 24)
    assert.ok(Array.from({ length: 8 }, (_, i) => finishOf(chunks, i)).every((r) => r === 'length'))
  })

  it('completes raw prompts, of text or tokens, with an echo', async () => {
    const body = { prompt: ['ab', 'cd'], max_tokens: 3, temperature: 0, echo: true }
    const chunks = chunksOf((await cell.post('/v1/completions', body)).text)
    assert.match(textOf(chunks, 0), /^ab./su)
    assert.match(textOf(chunks, 1), /^cd./su)
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, 6)
    // The tokens of <s>ab: BOS is not put in twice.
    const ids = { prompt: [1, 324, 325], max_tokens: 3, temperature: 0 }
    const byIds = chunksOf((await cell.post('/v1/completions', ids)).text)
    assert.equal(`ab${textOf(byIds)}`, textOf(chunks, 0))
    const bad = await cell.post('/v1/completions', { prompt: [99_999] })
    assert.deepEqual(errorOf(bad.text), { ...errorOf(bad.text), param: 'prompt' })
  })

  it('attributes the CPU of its process to its requests: all of it under load, never more', async () => {
    const health = async () => {
      const { cpu_ns, attributed_cpu_ns } = JSON.parse((await cell.get('/healthz')).text)
      return { process: BigInt(cpu_ns), attributed: BigInt(attributed_cpu_ns) }
    }
    const before = await health()
    const statBefore = cpuTicks(cell.pid)
    const bodies = Array.from({ length: 12 }, (_, index) => ({
      messages: user('x'.repeat(index * 15)),
      max_tokens: 30 + index,
      temperature: 0,
      n: (index % 3) + 1,
      logprobs: index % 4 === 0,
    }))
    const replies = await Promise.all(bodies.map((body) => cell.post(CHAT, body)))
    const afterwards = await health()
    const statAfter = cpuTicks(cell.pid)
    const claimed = replies.reduce(
      (sum, { text }) => sum + BigInt(chunksOf(text).at(-1)?.ergon.cpu_ns ?? 0),
      0n,
    )
    const spent = afterwards.process - before.process
    const attributed = afterwards.attributed - before.attributed
    assert.ok(claimed <= attributed, 'chunks claim no more than was attributed')
    assert.ok(attributed <= spent, `${attributed} of ${spent}`)
    assert.ok(Number(attributed) / Number(spent) >= 0.95, `${attributed} of ${spent} attributed`)
    const share = Number(claimed) / Number(spent)
    assert.ok(share >= 0.9, `${share} of the CPU is on chunks`)
    if (statBefore !== undefined && statAfter !== undefined) {
      const measured = (statAfter - statBefore) * 10_000_000
      assert.ok(Math.abs(measured - Number(spent)) <= 30_000_000 + 0.02 * measured)
    }
  })

  it('charges a long prompt more than a short one beside it', async () => {
    // Few tokens of answers: their times differ by more than the prompts on a busy machine.
    const ask = async (content: string) => {
      const reply = await cell.post(CHAT, { ...endless, messages: user(content), max_tokens: 5 })
      return BigInt(chunksOf(reply.text).at(-1)?.ergon.cpu_ns ?? 0)
    }
    const [long, short] = await Promise.all([ask('x'.repeat(200)), ask('x')])
    assert.ok(long > short, `${long} > ${short}`)
  })
})

/** User and system ticks (10 ms) of a process by the kernel's own count, where there is /proc. */
function cpuTicks(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

describe('a cell that stops', () => {
  it('ends running answers with an error and leaves', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ergon-stop-'))
    const file = join(folder, 'random.gguf')
    writeRandomLlama(file, { width: 256 })
    const cell = await startCell({ id: 'random', file, contextSize: 2048 })
    try {
      const response = await cell.open(CHAT, { messages: user('Hi') })
      await once(response, 'data')
      cell.child.kill('SIGTERM')
      let text = ''
      for await (const part of response) text += String(part)
      assert.equal(chunksOf(text).at(-1)?.error?.code, 'draining')
      if (cell.child.exitCode === null) await once(cell.child, 'exit')
      assert.equal(cell.child.exitCode, 0)
    } finally {
      await cell.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
