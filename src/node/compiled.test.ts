import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { nameCompiledFor } from '#cells/compiled.ts'
import { PROGRAMS } from '#processes/programs.ts'
import { SIGNER_PROGRAM } from '#receipts/sealing.ts'
import { pathOf } from './cell-specs.ts'
import { compilePrograms } from './compiled.ts'
import type { Program } from './program-flags.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-compiled-'))
const folder = join(root, 'compiled')
const compile = () =>
  compilePrograms({
    folder,
    programs: PROGRAMS,
    log: createLogger('test', { level: 'warn' }),
    signal: AbortSignal.timeout(60_000),
  })
// The compiled code of an older version: removed before anything is compiled.
before(async () => {
  mkdirSync(join(folder, 'older'), { recursive: true })
  writeFileSync(join(folder, 'stamp'), 'another version')
  await compile()
})
after(() => rmSync(root, { recursive: true, force: true }))

const versions = () =>
  readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory())

/** Node's messages about a program's compiled code; the program itself ends because it gets no config. */
const wordsOfNode = (program: Program) =>
  new Promise<string>((resolve) => {
    const env = { NODE_COMPILE_CACHE: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
    const argv = [process.execPath, ...program.flags, pathOf(program)]
    const command = ['-c', 'exec "$@" 3< /dev/null', 'program', ...argv]
    execFile('/bin/sh', command, { env, maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })

const codeFolders = () => versions().map(({ name }) => join(folder, name))

test('compilePrograms() makes a folder of code, which everybody may read and nobody write', () => {
  // A flag that changes the code would need one more, and each start of its program compile again.
  assert.equal(codeFolders().length, 1)
  for (const code of codeFolders()) {
    const modes = readdirSync(code).map((file) => statSync(join(code, file)).mode & 0o777)
    assert.ok(modes.length > 100)
    assert.deepEqual(new Set([...modes, statSync(code).mode & 0o777]), new Set([0o644, 0o755]))
  }
})

for (const program of PROGRAMS)
  test(`${program.file} takes its code under the name of its uid, and compiles nothing`, async () => {
    const uid = process.getuid?.() ?? 0
    nameCompiledFor(folder, uid)
    nameCompiledFor(folder, uid)
    const before = codeFolders().map((code) => readdirSync(code).length)
    const words = await wordsOfNode(program)
    assert.match(words, new RegExp(`${program.file} was accepted`))
    assert.doesNotMatch(words, /was (not initialized|rejected)|writing cache for/)
    assert.deepEqual(
      codeFolders().map((code) => readdirSync(code).length),
      before,
    )
  })

test('a program compiles by itself without', async () => {
  for (const code of codeFolders()) rmSync(`${code}-${process.getuid?.()}`)
  assert.doesNotMatch(await wordsOfNode(SIGNER_PROGRAM), /signer\.ts was accepted/)
})

test('compilePrograms() does it again when the code has changed, and not otherwise', async () => {
  const stamp = join(folder, 'stamp')
  assert.match(readFileSync(stamp, 'utf8'), /^[0-9a-f]{64}$/)
  const { mtimeMs } = statSync(stamp)
  await compile()
  assert.equal(statSync(stamp).mtimeMs, mtimeMs)
})
