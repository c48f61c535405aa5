// Upstreams that say more than they were asked for: beyond max_tokens, or after their last finish. The answer ends
// where it should have, what it costs is bounded by what was asked, and the rest is the upstream's own affair.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  answering,
  DONE,
  frame,
  plainChunk,
  streaming,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { callOf, energies, read, textOf, withUpstreams } from './openai-provider.fixture.ts'
import type { GenerationEvent, Provider } from '#inference/providers/provider.ts'

let server: ScriptedUpstream
let remote: Provider
withUpstreams((opened) => ({ server, remote } = opened))

/** Ten tokens of the prompt by its bytes, at 1 mJ; 2 mJ for each of the answer. */
const costNj = (tokens: number) => 10_000_000n + 2_000_000n * BigInt(tokens)
const piece = (index: number, content: string, finish: string | null = null) =>
  frame({ choices: [{ index, delta: { content }, finish_reason: finish }] })
const deltasOf = (events: readonly GenerationEvent[], index = 0) =>
  events.filter((event) => event.kind === 'delta' && event.index === index).length
const finishesOf = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) => (event.kind === 'finish' ? [[event.index, event.reason]] : []))

/** Goes on with these until its caller leaves. */
const endless =
  (first: readonly string[], then: string): Script =>
  (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const text of first) response.write(text)
    const timer = setInterval(() => response.write(then), 5)
    response.once('close', () => clearInterval(timer))
  }

test('an answer ends after max_tokens, and no more of it is billed', async () => {
  server.script = endless([plainChunk('a')], plainChunk('b'))
  const events = await read(remote, callOf({ tokensMax: 5 }))
  assert.equal(textOf(events), 'abbbb')
  assert.deepEqual(finishesOf(events), [[0, 'length']])
  assert.equal(energies(events).at(-1), costNj(5))
  assert.deepEqual(events.at(-1), {
    kind: 'end',
    usage: { promptTokens: 10, completionTokens: 5 },
  })
})

test('each choice of an answer ends after max_tokens', async () => {
  server.script = endless([piece(1, 'x', 'stop')], piece(0, 'a') + piece(2, 'c'))
  const events = await read(remote, callOf({ choices: 3, tokensMax: 12 }))
  assert.deepEqual(
    [0, 1, 2].map((index) => deltasOf(events, index)),
    [4, 1, 4],
  )
  assert.deepEqual(finishesOf(events), [
    [1, 'stop'],
    [0, 'length'],
    [2, 'length'],
  ])
  assert.equal(energies(events).at(-1), costNj(9))
})

test('an honest answer of max_tokens keeps its own finish and its own usage', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3 }
  server.script = streaming(
    ...['a', 'b', 'c'].map((text) => plainChunk(text)),
    plainChunk(null, 'stop'),
    frame({ choices: [], usage }) + DONE,
  )
  const events = await read(remote, callOf({ tokensMax: 3 }))
  assert.deepEqual(finishesOf(events), [[0, 'stop']])
  assert.equal(energies(events).at(-1), 13_000_000n)
})

test('whatever an upstream says and declares, a call costs what was asked for at most', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        tokensMax: fc.integer({ min: 1, max: 6 }),
        choices: fc.integer({ min: 1, max: 3 }),
        said: fc.array(fc.tuple(fc.nat(2), fc.constantFrom('w', ' ww'), fc.nat(12)), {
          maxLength: 30,
        }),
        usage: fc.option(fc.nat(30)),
        isWhole: fc.boolean(),
      }),
      async ({ tokensMax, choices, said, usage, isWhole }) => {
        const declared = { prompt_tokens: 10, completion_tokens: usage }
        const pieces = said.map(([index, text, ends]) =>
          piece(index % choices, text, ends === 0 ? 'stop' : null),
        )
        const ends = Array.from({ length: choices }, (_, index) => piece(index, 'w', 'stop'))
        const last = usage === null ? DONE : frame({ choices: [], usage: declared }) + DONE
        const whole = Array.from({ length: choices }, (_, index) => ({
          index,
          message: { role: 'assistant', content: 'w'.repeat(8 + said.length * 8) },
          finish_reason: 'stop',
        }))
        server.script = isWhole
          ? answering(200, { choices: whole, ...(usage !== null && { usage: declared }) })
          : streaming(...pieces, ...ends, last)
        const asked = callOf({ choices, tokensMax: tokensMax * choices, whole: isWhole })
        const events = await read(remote, asked)
        const most = costNj(tokensMax * choices)
        for (const nj of energies(events)) assert.ok(nj <= most, `${nj} of ${most}`)
        if (!isWhole)
          for (let index = 0; index < choices; index++)
            assert.ok(deltasOf(events, index) <= tokensMax)
      },
    ),
    { numRuns: 150 },
  )
})

const AFTER: Readonly<Record<string, Script>> = {
  'talks on': endless([plainChunk('a'), plainChunk('b', 'stop')], plainChunk('more')),
  'sends comments': endless([plainChunk('a'), plainChunk('b', 'stop')], ': still there\n\n'),
  'says nothing': endless([plainChunk('a'), plainChunk('b', 'stop')], ''),
  'sends what is no JSON': endless([plainChunk('a') + plainChunk('b', 'stop')], 'data: {"cho\n\n'),
  'tells an error': endless(
    [plainChunk('a'), plainChunk('b', 'stop')],
    frame({ error: { message: 'too late' } }),
  ),
  'resets the connection': (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(plainChunk('a') + plainChunk('b', 'stop'))
    setTimeout(() => response.socket?.resetAndDestroy(), 20)
  },
}
for (const [what, script] of Object.entries(AFTER))
  test(`an upstream that ${what} after its last finish has answered`, async () => {
    server.script = script
    const events = await read(remote)
    assert.equal(textOf(events), 'ab')
    assert.deepEqual(finishesOf(events), [[0, 'stop']])
    assert.equal(energies(events).at(-1), costNj(2))
  })
