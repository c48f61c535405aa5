import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { parseChatRequest } from '#contract/inference/inference.ts'
import { createChatCreate } from '#inference/operations/chat-create.ts'
import { createOpenaiProvider } from '#inference/providers/openai/openai-provider.ts'
import { callOf, depsOf, offerOf, quietLog } from '#inference/testing/offers.ts'
import { cellHello } from '#inference/testing/scripted-upstream.ts'
import { serveCell } from './cell-server.ts'
import { EVENT_STREAM } from './sse.ts'
import { createStepClock, processClocks } from './step-clock.ts'
import { Stuck } from './step-watch.ts'

async function serve(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-cell-'))
  const socketPath = join(folder, 'cell.sock')
  const server = await serveCell(socketPath, 'small', quietLog)
  t.after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })
  return { socketPath, server }
}

test('a cell knows whose turn it is from the gateway, and of a model elsewhere nobody is told', async (t) => {
  const { socketPath, server } = await serve(t)
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
  t.after(() => provider.close())
  const body = parseChatRequest({ model: 'small', messages: [{ role: 'user', content: 'Hi' }] })
  for (const isCell of [true, false])
    await createChatCreate(depsOf([offerOf({ isCell })], [provider]))(callOf(body))
  assert.deepEqual(payers, ['acct_1', ''])
})

test('a request whose body comes after the engine got stuck is told so, and not begun', async (t) => {
  const { socketPath, server } = await serve(t)
  const stuck = new AbortController()
  const clock = createStepClock({ ...processClocks, shares: () => [] })
  const opened = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<'begun'>()
  server.ready({
    clock: { ...clock, open: () => (opened.resolve(), clock.open()) },
    watch: { stuck: stuck.signal },
    routes: {
      '/v1/chat/completions': () => {
        begun.resolve('begun')
        return new Promise(() => {})
      },
    },
    card: {},
  })
  const asked = request({ socketPath, path: '/v1/chat/completions', method: 'POST' })
  t.after(() => asked.destroy())
  asked.write('{')
  await opened.promise
  stuck.abort(new Stuck('The engine makes no step', new Map()))
  asked.end('}')
  const answered = once(asked, 'response').then(([response]) => response as IncomingMessage)
  const answer = await Promise.race([answered, begun.promise])
  assert.ok(answer !== 'begun', 'a stuck engine was given work')
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '2'])
})
