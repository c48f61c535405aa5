// `ergon` started by an older Node than the pinned one, as by somebody who has not put node_modules/.bin first.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const DOOR = join(import.meta.dirname, 'ergon.mjs')
const OPTIONS = { skip: whyNoOlderNode(), timeout: 60_000 }

function olderNode(): string | undefined {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  return paths.find((path) => {
    if (path.includes('node_modules') || !existsSync(path)) return false
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' })
    return Number(/^v(\d+)/.exec(version)?.[1]) < 24
  })
}
function whyNoOlderNode(): string | false {
  return olderNode() === undefined ? 'no Node before 24 is installed' : false
}

function start(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawn(olderNode() ?? '', [DOOR, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
}

test('hands over to the pinned Node, with its output and exit code', OPTIONS, async () => {
  for (const [words, code, expected] of [
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [['nonsense'], 2, /unknown command/],
  ] as const) {
    const child = start(words)
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)])
    assert.match(out + error, expected)
    if (child.exitCode === null) await once(child, 'exit')
    assert.equal(child.exitCode, code)
  }
})

test('a SIGTERM ends the command too', OPTIONS, async (t) => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const child = start(['storage', 'ls', 's3://bucket'], {
    ERGON_BASE_URL: `http://127.0.0.1:${port}`,
    ERGON_TOKEN: `svc_${'a'.repeat(38)}`,
  })
  const [, answer] = (await once(server, 'request')) as [unknown, { socket: NodeJS.EventEmitter }]
  const left = once(answer.socket, 'close')
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await left
  assert.deepEqual(await ended, [143, null])
})
