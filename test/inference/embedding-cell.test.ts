// The default embedding model in a real cell: one line per input, normalised, padded, metered.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { embeddingModel } from '../default-models.ts'
import { startCell, type TestCell } from './model-cell.ts'

const model = embeddingModel()
const PATH = '/v1/embeddings'
const OWN = 384
const PADDED = 1536

type Line = {
  index?: number
  embedding?: string
  usage?: { prompt_tokens: number; total_tokens: number }
  ergon: { cpu_ns: string; prompt_tokens: number; completion_tokens: number }
}

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

function vectorOf(line: Line | undefined): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(line?.embedding ?? '', 'base64'))
  return new Float32Array(bytes.buffer)
}

const dot = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

describe('the default embedding model', { skip: 'reason' in model ? model.reason : false }, () => {
  let cell: TestCell
  before(async () => {
    const file = 'file' in model ? model.file : ''
    const config = { contextSize: 512, sequences: 1, pad: PADDED }
    cell = await startCell({ id: 'all-minilm-l6-v2-1536', file, kind: 'embedding', ...config })
  })
  after(() => cell.stop())

  const embed = async (body: object) => {
    const reply = await cell.post(PATH, body)
    assert.equal(reply.status, 200, reply.text)
    return linesOf(reply.text)
  }
  const refusal = async (body: object) => {
    const reply = await cell.post(PATH, body)
    const { error } = JSON.parse(reply.text) as { error: { code: string; param: string | null } }
    return [reply.status, error.code, error.param]
  }

  it('gives unit vectors, padded with zeros, whose likeness follows meaning', async () => {
    const input = ['A cat sits on the mat.', 'A kitten is on the rug.', 'Interest rates rose.']
    const lines = await embed({ input })
    const [cat, kitten, rates] = lines.slice(0, 3).map(vectorOf)
    assert.ok(cat !== undefined && kitten !== undefined && rates !== undefined)
    for (const vector of [cat, kitten, rates]) {
      assert.equal(vector.length, PADDED)
      assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-5)
      assert.ok(vector.subarray(OWN).every((value) => value === 0))
    }
    assert.ok(dot(cat, kitten) > 0.5 && dot(cat, rates) < 0.2)
    assert.deepEqual(
      lines.slice(0, 3).map((line) => line.index),
      [0, 1, 2],
    )
  })

  it('gives its own length when asked, with the same numbers, and no other length', async () => {
    const [full] = await embed({ input: 'hello' })
    const [own] = await embed({ input: 'hello', dimensions: OWN })
    assert.deepEqual(vectorOf(own), vectorOf(full).subarray(0, OWN))
    assert.deepEqual(await refusal({ input: 'a', dimensions: 256 }), [
      400,
      'invalid_request',
      'dimensions',
    ])
  })

  it('counts the tokens of each input with its frame, cumulatively', async () => {
    const lines = await embed({ input: ['hello world', 'hello'] })
    assert.deepEqual(
      lines.map((line) => line.ergon.prompt_tokens),
      [4, 7, 7],
    )
    assert.deepEqual(lines.at(-1)?.usage, { prompt_tokens: 7, total_tokens: 7 })
    assert.ok(BigInt(lines[1]?.ergon.cpu_ns ?? 0) > BigInt(lines[0]?.ergon.cpu_ns ?? 0))
  })

  it('takes token ids, and reads marks in text as text', async () => {
    // hello world in this vocabulary.
    const [byIds] = await embed({ input: [7592, 2088] })
    const [byText] = await embed({ input: 'hello world' })
    assert.deepEqual(vectorOf(byIds), vectorOf(byText))
    const [marked] = await embed({ input: '[SEP]' })
    assert.ok((marked?.ergon.prompt_tokens ?? 0) > 3)
  })

  it('refuses what it cannot embed', async () => {
    const long = 'word '.repeat(520)
    assert.deepEqual(await refusal({ input: ['a', long] }), [
      400,
      'context_length_exceeded',
      'input',
    ])
    assert.deepEqual(await refusal({ input: 'x'.repeat(100_000) }), [
      400,
      'context_length_exceeded',
      'input',
    ])
    assert.deepEqual(await refusal({ input: '' }), [400, 'invalid_request', 'input'])
    assert.deepEqual(await refusal({ input: [] }), [400, 'invalid_request', 'input'])
    assert.deepEqual(await refusal({ input: [[40_000]] }), [400, 'invalid_request', 'input'])
    assert.deepEqual(await refusal({}), [400, 'invalid_request', 'input'])
  })

  it('takes 509 tokens, the longest that fit', async () => {
    const [line] = await embed({ input: 'word '.repeat(509) })
    assert.equal(line?.ergon.prompt_tokens, 511)
  })

  const attributed = async () =>
    JSON.parse((await cell.get('/healthz')).text) as { cpu_ns: string; attributed_cpu_ns: string }

  it('stops between inputs when the caller goes away', async () => {
    const input = Array.from({ length: 100 }, () => 'word '.repeat(200))
    const gone = new AbortController()
    const response = await cell.open(PATH, { input }, gone.signal)
    response.on('error', () => {})
    const [first] = (await once(response, 'data')) as [Buffer]
    const oneNs = BigInt(linesOf(first.toString().split('\n')[0] ?? '')[0]?.ergon.cpu_ns ?? 0)
    gone.abort()
    const before = BigInt((await attributed()).attributed_cpu_ns)
    // The one sequence is given back at the end of the running input, or this would come last.
    await embed({ input: 'hello' })
    const spent = BigInt((await attributed()).attributed_cpu_ns) - before
    assert.ok(spent < oneNs * 20n, `${spent} of 100 × ${oneNs}`)
  })

  it('attributes the CPU of its process to its requests', async () => {
    const before = await attributed()
    const input = Array.from({ length: 6 }, (_, index) => 'word '.repeat(20 * (index + 1)))
    const answers = await Promise.all([1, 2, 3].map(() => embed({ input })))
    const after = await attributed()
    const claimed = answers.reduce(
      (sum, lines) => sum + BigInt(lines.at(-1)?.ergon.cpu_ns ?? 0),
      0n,
    )
    const spent = BigInt(after.cpu_ns) - BigInt(before.cpu_ns)
    assert.ok(claimed <= spent)
    assert.ok(Number(claimed) / Number(spent) > 0.9, `${claimed} of ${spent}`)
  })
})
