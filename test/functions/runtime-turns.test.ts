// The runtime of functions alone: requests that run at once take turns, and one that never ends keeps no place.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync, openSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const RUNTIME = fileURLToPath(new URL('../../src/functions/runtime/node24.mjs', import.meta.url))

/** Keeps the requests that it began, and ends none whose path is /stuck. */
const SOURCE = `const began = []
  export const handler = async ({ rawPath }) => {
    began.push(rawPath)
    if (rawPath === '/stuck') await new Promise(() => undefined)
    if (rawPath === '/slow') await new Promise((resolve) => setTimeout(resolve, 700))
    return began
  }`

/** Starts the runtime as its cell does: the settings on descriptor 3, the socket on 4. */
async function startRuntime(t: TestContext, timeoutMs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-turns-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = `ergon-turns-${process.pid}-${timeoutMs}.mjs`
  t.after(() => rmSync(join('/tmp', file), { force: true }))
  const config = { name: 'f', version: 1, file, source: SOURCE, env: {}, memoryBytes: 1e8 }
  writeFileSync(join(folder, 'config'), `${JSON.stringify({ ...config, timeoutMs })}\n`)
  const listener = createServer()
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle
  const settings = openSync(join(folder, 'config'), 'r')
  const child = spawn(process.execPath, [RUNTIME], {
    stdio: ['ignore', 'pipe', 'inherit', settings, fd],
  })
  // The child alone answers.
  listener.close()
  let log = ''
  child.stdout?.on('data', (chunk) => (log += String(chunk)))
  t.after(() => child.kill('SIGKILL'))
  const send = (id: string, path: string): ClientRequest => {
    const headers = { 'x-ergon-request-id': id, 'x-ergon-url': `http://localhost${path}` }
    return request({ port, path, headers, agent: false }).on('error', () => {})
  }
  const textOf = async (sent: ClientRequest): Promise<string> => {
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    return text
  }
  // Its code is loaded.
  await textOf(request({ port, path: '/-/loaded', agent: false }))
  return { send, textOf, log: () => log }
}

test(
  'a request that never ends keeps its place no longer than its time',
  { timeout: 30_000 },
  async (t) => {
    const { send, textOf, log } = await startRuntime(t, 1000)
    const stuck = send('req_stuck', '/stuck').end()
    await pause(100)
    let signs = 0
    const next = send('req_next', '/next').on('information', () => signs++)
    assert.equal(
      await Promise.race([textOf(next), pause(5000, 'no answer', { ref: false })]),
      '["/stuck","/next"]',
    )
    stuck.destroy()
    // That it waits, and that it begins.
    assert.equal(signs, 2)
    assert.match(
      log(),
      /"request":"req_stuck","level":"error","text":"The request has not ended after 1 s/,
    )
  },
)

test(
  'requests run in their order, and one whose caller has left is not run',
  { timeout: 30_000 },
  async (t) => {
    const { send, textOf } = await startRuntime(t, 30_000)
    const slow = textOf(send('req_a', '/slow'))
    await pause(100)
    const left = send('req_b', '/left').end()
    const waiting = textOf(send('req_c', '/waits'))
    await pause(100)
    left.destroy()
    await slow
    assert.equal(await waiting, '["/slow","/waits"]')
  },
)
