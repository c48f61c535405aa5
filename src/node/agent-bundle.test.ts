import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createLogger } from '#base/log.ts'
import { agentBundle } from './agent-bundle.ts'
import { bundlesIn, COMPILED_FOLDER } from './bundles.ts'
import { compiledVersion } from './code-version.ts'
import { compilePrograms } from './compiled.ts'

// A place that an address must escape.
const data = mkdtempSync(join(tmpdir(), 'ergon-agent-#-'))
const folder = join(data, COMPILED_FOLDER)
const bundle = join(bundlesIn(folder), 'run-agent.mjs')

before(() =>
  compilePrograms({
    folder,
    programs: [],
    log: createLogger('test', { level: 'warn' }),
    signal: AbortSignal.timeout(60_000),
  }),
)
after(() => rmSync(data, { recursive: true, force: true }))

test('the agent has a bundle once a start has compiled the programs', () => {
  assert.equal(agentBundle(data)?.address, pathToFileURL(bundle).href)
  assert.equal(fileURLToPath(agentBundle(data)?.address ?? ''), bundle)
  assert.equal(agentBundle(join(data, 'absent')), undefined)
})

test('the agent runs no bundle that others may write', () => {
  for (const path of [folder, join(folder, 'stamp'), bundlesIn(folder), bundle]) {
    chmodSync(path, 0o775)
    assert.equal(agentBundle(data), undefined, path)
    chmodSync(path, 0o755)
    assert.notEqual(agentBundle(data), undefined, path)
  }
})

test(
  'the agent runs no bundle of another user',
  { skip: process.geteuid?.() !== 0 && 'only root gives files away' },
  () => {
    chownSync(bundle, 65_534, 65_534)
    assert.equal(agentBundle(data), undefined)
    chownSync(bundle, 0, 0)
    assert.notEqual(agentBundle(data), undefined)
  },
)

test('a start that knows the version of its code asks the files of the code no second time', () => {
  const { version } = agentBundle(data) ?? {}
  assert.equal(compiledVersion(folder, version), version)
  // Another start has made its own bundles meanwhile.
  assert.equal(compiledVersion(folder, 'a version that is known'), undefined)
})

test('the agent runs no bundle of other code, and none that is gone', () => {
  writeFileSync(join(folder, 'stamp'), 'another version')
  assert.equal(agentBundle(data), undefined)
  rmSync(bundle)
  assert.equal(agentBundle(data), undefined)
})
