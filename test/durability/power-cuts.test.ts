// The tests of power cuts, in a mount namespace of their own. Otherwise any process that starts meanwhile in a new
// namespace, as Ergon's cells do, would keep a copy of the mount, and with it the dead disk.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { whyNoVolume } from './volume.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const INSIDE = { objects: 'power-cuts-inside.ts', databases: 'database-power-cuts-inside.ts' }
const skip = whyNoVolume()

for (const [subject, file] of Object.entries(INSIDE))
  test(`power cuts: ${subject}`, { skip, timeout: LONG ? 7_200_000 : 580_000 }, (t) =>
    runInside(file, t),
  )

async function runInside(file: string, t: TestContext): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const namespace = ['--mount', '--propagation', 'private', '--kill-child', '--']
  const command = [process.execPath, '--test-reporter=spec', join(import.meta.dirname, file)]
  const child = spawn('unshare', [...namespace, ...command], {
    env,
    signal: t.signal,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(line)
    if (line.trim().startsWith('ℹ')) t.diagnostic(line.trim())
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, said.join('\n'))
}
