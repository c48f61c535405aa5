import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { settingsHelp } from '#config/help.ts'

const ROOT = dirname(import.meta.dirname)
const FILES = ['scripts/bootstrap.mjs', 'docs/reference/start-help.txt', 'package-lock.json']

/** A tree in which nothing is installed, and where npm is not at hand. */
function bootstrapAlone(t: TestContext) {
  const tree = mkdtempSync(join(tmpdir(), 'ergon-bootstrap-'))
  t.after(() => rmSync(tree, { recursive: true }))
  for (const file of FILES) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    copyFileSync(join(ROOT, file), join(tree, file))
  }
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [join(tree, 'scripts/bootstrap.mjs'), ...words], {
      env: { PATH: '/nowhere' },
      encoding: 'utf8',
    })
  return { run, isInstalled: () => existsSync(join(tree, 'node_modules')) }
}

for (const words of [['--help'], ['--port', '9000', '-h']])
  test(`start ${words.join(' ')} prints every setting and installs nothing`, (t) => {
    const { run, isInstalled } = bootstrapAlone(t)
    const { status, stdout, stderr } = run('start', ...words)
    assert.deepEqual([status, stdout, stderr], [0, settingsHelp(), ''])
    assert.equal(isInstalled(), false)
  })

test('without a wish for help the pinned packages are installed first', (t) => {
  const { status, stderr } = bootstrapAlone(t).run('start', '--port', '9000')
  assert.equal(status, 1)
  assert.match(stderr, /installing the pinned packages[^]*npm is not on PATH/)
})
