// Model cells as upstreams: they say what CPU they used, and are started again when they are gone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { quietLog } from '#inference/testing/offers.ts'
import {
  answering,
  cellChunk,
  cellHello,
  DONE,
  frame,
  plainChunk,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { callOf, read, withUpstreams } from './openai-provider.fixture.ts'
import { createOpenaiProvider } from './openai-provider.ts'
import type { Provider } from '#inference/providers/provider.ts'

let cell: ScriptedUpstream
let local: Provider
withUpstreams((opened) => ({ cell, local } = opened))

test('a cell is billed the CPU that it says, comments during prefill included', async () => {
  cell.script = streaming(...cellHello)
  const events = await read(local)
  assert.deepEqual(
    events.flatMap((event) =>
      event.kind === 'used' && event.used.kind === 'cpu' ? [event.used.cpuNs] : [],
    ),
    [1_000_000n, 2_000_000n, 3_000_000n, 3_500_000n],
  )
})

test('a cell whose figures shrink, are no figures or are missing has failed', async () => {
  for (const script of [
    streaming(cellChunk({ content: 'a' }, [5, 5, 1]), cellChunk({}, [4, 5, 1], 'stop')),
    streaming(': {"cpu_ns":7,"prompt_tokens":5,"completion_tokens":0}\n\n'),
    streaming(': {"cpu_ns":"7","prompt_tokens":-5,"completion_tokens":0}\n\n'),
    streaming(plainChunk('a', 'stop'), DONE),
  ]) {
    cell.script = script
    await assert.rejects(read(local), { code: 'upstream_failed' })
  }
})

test('a cell that breaks off says what it used before it fails', async () => {
  cell.script = streaming(
    cellChunk({ content: 'a' }, [5, 5, 1]),
    frame({
      error: { message: 'The model could not go on' },
      ergon: { cpu_ns: '9', prompt_tokens: 5, completion_tokens: 1 },
    }),
  )
  const seen: bigint[] = []
  await assert.rejects(
    async () => {
      for await (const some of local.generate(callOf(), new AbortController().signal))
        for (const event of some)
          if (event.kind === 'used' && event.used.kind === 'cpu') seen.push(event.used.cpuNs)
    },
    { code: 'upstream_failed', message: 'The model could not go on' },
  )
  assert.deepEqual(seen, [5n, 9n])
})

test('a cell that nobody answers for is being started again, however often it is asked', async () => {
  const gone = createOpenaiProvider(
    { name: 'gone', at: { kind: 'cell', socketPath: `${cell.socketPath}.none` } },
    { clock: systemClock, log: quietLog, sleep: async () => {} },
  )
  try {
    for (let i = 0; i < 8; i++)
      await assert.rejects(read(gone), { code: 'model_loading', status: 503, retryAfterS: 2 })
  } finally {
    await gone.close()
  }
})

test('a cell that loads is 503 with Retry-After', async () => {
  cell.script = answering(503, { error: { code: 'model_loading' } }, { 'retry-after': '5' })
  await assert.rejects(read(local), { code: 'model_loading', status: 503, retryAfterS: 5 })
})
