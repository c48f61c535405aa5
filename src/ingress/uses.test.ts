// The uses of instances at an agent of their own.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { serveAgent } from '#node/agent-socket/serve-agent.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { RequestEnding } from './request-ending.ts'
import { createInstanceUses } from './uses.ts'

const ROUTE = { id: 'fn_a', kind: 'function', scale: null } as const

test('requests that follow each other ask the agent once, and a refusal ends those that run', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-uses-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const agent = { socketPath: join(folder, 'agent'), secret: 'secret' }
  const refusing = Promise.withResolvers<void>()
  let asked = 0
  const server = await serveAgent(agent, (request) => {
    asked++
    request.say({ address: `unix:${folder}/none`, cell: 'fn-a-1' })
    const line = { refused: 'function_suspended', message: 'Could not run it: it is suspended' }
    void refusing.promise.then(() => request.end(line))
  })
  // Longer than any pause of a busy machine between two of the requests.
  const uses = createInstanceUses({ agent, caused: createCausedByCells() }, { calmMs: 60_000 })
  t.after(async () => {
    // The server waits for the answers that uses keep open.
    uses.close()
    await server.close()
  })
  const ending = new RequestEnding()
  for (let nth = 0; nth < 5; nth++) (await uses.begin(ROUTE, ending)).end()
  await uses.begin(ROUTE, ending)
  assert.equal(asked, 1)
  refusing.resolve()
  await new Promise((resolve) => ending.listen(resolve))
  assert.equal((ending.reason as Error & { code: string }).code, 'function_suspended')
  // The next request asks again.
  await Promise.resolve(uses.begin(ROUTE, new RequestEnding())).catch(() => undefined)
  assert.equal(asked, 2)
})
