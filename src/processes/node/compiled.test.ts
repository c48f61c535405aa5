import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { nameCompiledFor } from '#cells/compiled.ts'
import { APP_FOLDER } from './cell-specs.ts'
import { compilePrograms } from './compiled.ts'

const SIGNER = join(APP_FOLDER, 'src/processes/signer.ts')
const root = mkdtempSync(join(tmpdir(), 'ergon-compiled-'))
const folder = join(root, 'compiled')
const compile = () =>
  compilePrograms({
    folder,
    log: createLogger('test', { level: 'warn' }),
    signal: AbortSignal.timeout(60_000),
  })
before(compile)
after(() => rmSync(root, { recursive: true, force: true }))

const versions = () =>
  readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory())

/** What Node says of the signer's compiled code; the program itself gives up for want of a config. */
const wordsOfNode = () =>
  new Promise<string>((resolve) => {
    const env = { NODE_COMPILE_CACHE: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
    const command = ['-c', 'exec "$@" 3< /dev/null', 'signer', process.execPath, SIGNER]
    execFile('/bin/sh', command, { env, maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })

test('compilePrograms() makes one folder of code, which everybody may read and nobody write', () => {
  assert.equal(versions().length, 1)
  const code = join(folder, versions()[0]?.name ?? '')
  const modes = readdirSync(code).map((file) => statSync(join(code, file)).mode & 0o777)
  assert.ok(modes.length > 100)
  assert.deepEqual(new Set([...modes, statSync(code).mode & 0o777]), new Set([0o644, 0o755]))
})

test('a program takes it under the name of its uid, and compiles by itself without', async () => {
  const accepted = /signer\.ts was accepted/
  const code = join(folder, versions()[0]?.name ?? '')
  nameCompiledFor(folder, process.getuid?.() ?? 0)
  nameCompiledFor(folder, process.getuid?.() ?? 0)
  const before = readdirSync(code).length
  assert.match(await wordsOfNode(), accepted)
  assert.equal(readdirSync(code).length, before)
  rmSync(`${code}-${process.getuid?.()}`)
  assert.doesNotMatch(await wordsOfNode(), accepted)
})

test('compilePrograms() does it again when the code has changed, and not otherwise', async () => {
  const stamp = join(folder, 'stamp')
  const { mtimeMs } = statSync(stamp)
  const version = readFileSync(stamp, 'utf8')
  await compile()
  assert.equal(statSync(stamp).mtimeMs, mtimeMs)
  writeFileSync(stamp, 'another version')
  await compile()
  assert.equal(readFileSync(stamp, 'utf8'), version)
  assert.equal(versions().length, 1)
})
