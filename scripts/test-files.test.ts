// A file of tests that leaves something running passes or fails by its tests alone, and ends.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const RUN_MS_MAX = 60_000
const FILE = `import { test } from 'node:test'
test('leaves a timer', () => void setInterval(() => {}, 1000))
`

function runOf(text: string): { readonly status: number | null; readonly output: string } {
  const file = join(mkdtempSync(join(tmpdir(), 'ergon-ends-')), 'left.test.ts')
  writeFileSync(file, text)
  const done = spawnSync(process.execPath, ['scripts/test.ts', file], {
    encoding: 'utf8',
    timeout: RUN_MS_MAX,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  })
  return { status: done.status, output: done.stdout }
}

test('a file that leaves a timer passes', () => {
  const { status, output } = runOf(FILE)
  assert.match(output, /1 passed, 0 failed/)
  assert.equal(status, 0, output)
})

test('a file that leaves a timer and fails has failed', () => {
  const { status, output } = runOf(`${FILE}test('fails', () => { throw new Error('planted') })\n`)
  assert.match(output, /1 passed, 1 failed/)
  assert.equal(status, 1, output)
})
