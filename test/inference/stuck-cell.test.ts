// A grammar that is admitted and wedges the engine's sampler: its caller pays, the other callers get an error, and
// the cell reports that it must be ended.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { STUCK_TOKEN_CPU_MS } from '#inference/engine/step-watch.ts'
import { writeRandomLlama } from '../gguf/random-llama.ts'
import { chunksOf, startCell, type TestCell } from './model-cell.ts'
import { nestedUnions } from './nested-unions.ts'

const CHAT = '/v1/chat/completions'
/** The token of its byte in the fixture. */
const BRACKET = 3 + 0x5b
const messages = [{ role: 'user', content: 'Hi' }]
const PLANTED = `--import=${join(import.meta.dirname, 'ambiguous-grammars.ts')}`

let folder: string
let cell: TestCell
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-stuck-'))
  const file = join(folder, 'random.gguf')
  writeRandomLlama(file, { width: 128, layers: 3 })
  cell = await startCell({ id: 'random', file, contextSize: 2048, sequences: 3 }, [PLANTED])
})
after(async () => {
  // A process that cannot leave its sampler does not hear a SIGTERM either.
  cell.child.kill('SIGKILL')
  if (cell.child.signalCode === null) await once(cell.child, 'exit')
  await cell.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a caller that wedges the sampler pays for it, the others are told at once, the cell says so', async () => {
  assert.deepEqual(JSON.parse((await cell.get('/stuck')).text), { stuck: null })
  const other = untilRefused()
  const wedge = await cell.post(CHAT, {
    messages,
    temperature: 0,
    // Only brackets, each with 25 times the readings: the first takes less than 0.2 s, the second more than 35 s.
    logit_bias: { [BRACKET]: 100 },
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'x', schema: nestedUnions(4, 25) },
    },
  })
  const blamed = chunksOf(wedge.text).at(-1)
  assert.deepEqual(
    [blamed?.error?.code, blamed?.error?.param],
    ['invalid_request', 'response_format'],
  )
  const spentNs = BigInt(blamed?.ergon.cpu_ns ?? 0)
  assert.ok(spentNs >= BigInt(STUCK_TOKEN_CPU_MS) * 1_000_000n, `${spentNs}`)
  const told = await other
  assert.equal(told.error?.code, 'model_loading')
  const otherNs = BigInt(told.ergon?.cpu_ns ?? 0)
  assert.ok(otherNs < spentNs / 2n, `${otherNs} of ${spentNs}`)

  const { stuck } = JSON.parse((await cell.get('/stuck')).text) as { stuck: string }
  assert.match(stuck, /2000 ms of CPU for a token/)
  assert.equal((await cell.get('/healthz')).status, 503)
  const next = await cell.post(CHAT, { messages })
  assert.deepEqual([next.status, next.headers['retry-after']], [503, '2'])
})

type Refused = { error?: { code: string }; ergon?: { cpu_ns: string } }

/** Asks again and again; resolves with how an answer was broken off. */
async function untilRefused(): Promise<Refused> {
  for (;;) {
    const { status, text } = await cell.post(CHAT, { messages, temperature: 0, max_tokens: 500 })
    const last = status === 200 ? chunksOf(text).at(-1) : (JSON.parse(text) as Refused)
    if (last?.error !== undefined) return last
  }
}
