// The runtime of functions alone: requests that run at once take turns, and one that never ends keeps no place.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const pathOf = (file: string) =>
  fileURLToPath(new URL(`../../src/functions/runtime/${file}`, import.meta.url))

type Runtime = {
  readonly command: readonly [string, ...string[]]
  readonly file: string
  readonly source: string
}

/** The code keeps the requests that it began, and ends none whose path is /stuck. */
const NODE: Runtime = {
  command: [process.execPath, pathOf('node24.mjs')],
  file: 'f.mjs',
  source: `const began = []
  export const handler = async ({ rawPath }) => {
    began.push(rawPath)
    if (rawPath === '/stuck') await new Promise(() => undefined)
    if (rawPath === '/slow') await new Promise((resolve) => setTimeout(resolve, 700))
    return began
  }`,
}
const PYTHON: Runtime = {
  command: ['python3', '-I', '-S', '-B', '-X', 'utf8', pathOf('python/main.py')],
  file: 'f.py',
  source: `import asyncio
began = []
async def handler(event, context):
    began.append(event['rawPath'])
    if event['rawPath'] == '/slow':
        await asyncio.sleep(0.7)
    return began`,
}

const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0

/** Starts the runtime as its cell does: the settings on descriptor 3, the socket on 4. */
async function startRuntime(t: TestContext, timeoutMs: number, { command, ...code }: Runtime) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-turns-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = `ergon-turns-${process.pid}-${timeoutMs}-${code.file}`
  t.after(() => rmSync(join('/tmp', file), { force: true }))
  const config = { name: 'f', version: 1, file, source: code.source, env: {}, memoryBytes: 1e8 }
  writeFileSync(join(folder, 'config'), `${JSON.stringify({ ...config, timeoutMs })}\n`)
  const listener = createServer()
  const socketPath = join(folder, 's')
  await once(listener.listen(`${socketPath}.of-listener`), 'listening')
  // close() removes the path of its own.
  linkSync(`${socketPath}.of-listener`, socketPath)
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle
  const settings = openSync(join(folder, 'config'), 'r')
  const [program, ...words] = command
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'inherit', settings, fd],
  })
  // The child alone answers.
  listener.close()
  let log = ''
  child.stdout?.on('data', (chunk) => (log += String(chunk)))
  t.after(() => child.kill('SIGKILL'))
  const send = (id: string, path: string): ClientRequest => {
    const headers = { 'x-ergon-request-id': id, 'x-ergon-url': `http://localhost${path}` }
    return request({ socketPath, path, headers, agent: false }).on('error', () => {})
  }
  const textOf = async (sent: ClientRequest): Promise<string> => {
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    return text
  }
  // Its code is loaded.
  await textOf(request({ socketPath, path: '/-/loaded', agent: false }))
  return { send, textOf, log: () => log }
}

test(
  'a request that never ends keeps its place no longer than its time',
  { timeout: 30_000 },
  async (t) => {
    const { send, textOf, log } = await startRuntime(t, 1000, NODE)
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

for (const [name, runtime] of Object.entries({ node: NODE, python: PYTHON }))
  test(
    `${name}: requests run in their order, and one whose caller has left is not run`,
    { timeout: 30_000, skip: runtime === PYTHON && !HAS_PYTHON },
    async (t) => {
      const { send, textOf } = await startRuntime(t, 30_000, runtime)
      const slow = textOf(send('req_a', '/slow'))
      await pause(100)
      const left = send('req_b', '/left').end()
      const signs: number[] = []
      const waits = send('req_c', '/waits').on('information', ({ statusCode }) => {
        signs.push(statusCode)
      })
      const waiting = textOf(waits)
      await pause(100)
      left.destroy()
      await slow
      assert.deepEqual(JSON.parse(await waiting), ['/slow', '/waits'])
      // That it waits, and that it begins.
      assert.deepEqual(signs, [102, 102])
    },
  )
