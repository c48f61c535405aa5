import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { parseChatRequest } from '#contract/inference.ts'
import { createChatCreate } from '#inference/operations/chat-create.ts'
import { createOpenaiProvider } from '#inference/providers/openai-provider.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import { cellHello } from '#inference/testing/scripted-upstream.ts'
import { serveCell } from './cell-server.ts'
import { EVENT_STREAM } from './sse.ts'
import { createStepClock, processClocks } from './step-clock.ts'

test('a cell knows whose turn it is from the gateway, and of a model elsewhere nobody is told', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-cell-'))
  const socketPath = join(folder, 'cell.sock')
  const server = await serveCell(socketPath, 'small', quietLog)
  const payers: string[] = []
  async function* frames() {
    yield* cellHello
  }
  server.ready({
    clock: createStepClock({ ...processClocks, shares: () => [] }),
    routes: {
      '/v1/chat/completions': async (_body, { payer }) => {
        payers.push(payer)
        return { contentType: EVENT_STREAM, frames: frames() }
      },
    },
    card: {},
  })
  const provider = createOpenaiProvider(
    { name: 'cell-small', at: { kind: 'cell', socketPath } },
    { clock: systemClock, log: quietLog },
  )
  t.after(async () => {
    await provider.close()
    await server.close()
    rmSync(folder, { recursive: true })
  })
  const body = parseChatRequest({ model: 'small', messages: [{ role: 'user', content: 'Hi' }] })
  for (const isCell of [true, false])
    await createChatCreate(depsOf([offerOf({ isCell })], [provider]))(callOf(body))
  assert.deepEqual(payers, ['acct_1', ''])
})
