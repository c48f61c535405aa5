// The product as a package, as somebody installs it in an empty folder. It fetches the pinned packages, so it is long.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { freeBlock, portFlags } from '../ports.ts'
import type { ReadyLine } from '../start-ergon.ts'

const ROOT = join(import.meta.dirname, '../..')
const INSTALLED_MS_MAX = 900_000

test(
  'a package installs in an empty folder; its command and its node run, and it has the console',
  { skip: process.env['ERGON_LONG'] !== '1' && 'ERGON_LONG=1', timeout: INSTALLED_MS_MAX },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'ergon-package-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const run = (file: string, ...words: string[]) =>
      execFileSync(file, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
    const said = run(process.execPath, join(ROOT, 'scripts', 'pack.ts'), folder)
    const [packed = ''] = said.trim().split(' ')
    run('npm', 'install', '--no-audit', '--no-fund', packed)
    assert.match(run('node_modules/.bin/ergon', '--version'), /^\d+\.\d+\.\d+$/m)
    const words = [...portFlags(await freeBlock()), '--models', 'none', '--json']
    const child = spawn(join(folder, 'node_modules/.bin/ergon-node'), words, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const ready = await firstLine(child.stdout)
      const page = await fetch(`${ready.base_url}/readyz`)
      assert.equal(page.status, 200)
      const portal = new URL(String(ready['portal_url']))
      assert.match(await pageOf(portal), /A cloud that bills for joules/)
      // The data is where the command was given, and not in the package, which npm may replace.
      assert.match(run('ls', '-a'), /^\.ergon$/m)
    } finally {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  },
)

async function firstLine(stdout: NodeJS.ReadableStream): Promise<ReadyLine> {
  for await (const line of createInterface({ input: stdout })) return JSON.parse(line) as ReadyLine
  throw new TypeError('the node ended without a line')
}

/** No resolver need know the name; fetch would ask one. */
async function pageOf({ port, host }: URL): Promise<string> {
  const asked = request({ host: '127.0.0.1', port, headers: { host } })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return await text(response)
}
