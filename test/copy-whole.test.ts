import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { copyWhole } from './copy-whole.ts'

/** Runs with a `cp` that the kernel ends after a few bytes of a file. */
function withCpCutOff(folder: string, run: () => void): void {
  const path = process.env['PATH']
  writeFileSync(join(folder, 'cp'), `#!/bin/sh\nPATH='${path}'\nulimit -f 1\nexec cp "$@"\n`, {
    mode: 0o755,
  })
  process.env['PATH'] = `${folder}:${path}`
  try {
    run()
  } finally {
    process.env['PATH'] = path
  }
}

function foldersOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-copy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  mkdirSync(join(from, 'tree'), { recursive: true })
  return { folder, from, to }
}

test('copyWhole() makes a copy good that was cut off', (t) => {
  const { folder, from, to } = foldersOf(t)
  const body = 'whole'.repeat(10_000)
  writeFileSync(join(from, 'tree', 'file'), body)
  withCpCutOff(folder, () => assert.throws(() => copyWhole(from, to)))
  copyWhole(from, to)
  assert.equal(readFileSync(join(to, 'tree', 'file'), 'utf8'), body)
})

test('copyWhole() copies what came later, and changes nothing that is there', (t) => {
  const { from, to } = foldersOf(t)
  writeFileSync(join(from, 'first'), 'one')
  copyWhole(from, to)
  writeFileSync(join(from, 'first'), 'changed')
  writeFileSync(join(from, 'second'), 'two')
  writeFileSync(join(from, '.part'), 'unfinished')
  mkdirSync(join(from, 'partial-a1'))
  copyWhole(from, to)
  assert.equal(readFileSync(join(to, 'first'), 'utf8'), 'one')
  assert.equal(readFileSync(join(to, 'second'), 'utf8'), 'two')
  assert.throws(() => readFileSync(join(to, '.part')), /ENOENT/)
  assert.equal(existsSync(join(to, 'partial-a1')), false)
})
