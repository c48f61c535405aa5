import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createLogger } from '#base/log.ts'
import { nameCompiledFor } from '#cells/compiled.ts'
import { PROGRAMS } from '#processes/programs.ts'
import { SIGNER_PROGRAM } from '#receipts/sealing.ts'
import { bundlesIn } from './bundles.ts'
import { bundleOrSource, pathOf } from './cell-specs.ts'
import { compilePrograms } from './compiled.ts'
import type { Program } from './program-flags.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-compiled-'))
const folder = join(root, 'compiled')
const FAULTY: Program = { file: 'node/compiled.fixture.ts', flags: [] }
const compile = () =>
  compilePrograms({
    folder,
    programs: [...PROGRAMS, FAULTY],
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
  readdirSync(folder, { withFileTypes: true }).filter(
    (one) => one.isDirectory() && one.name.startsWith('v'),
  )

/** Node's messages about a program's compiled code; the program itself ends because it gets no config. */
const wordsOfNode = (program: Program) =>
  new Promise<string>((resolve) => {
    const env = { NODE_COMPILE_CACHE: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
    const argv = [process.execPath, ...program.flags, bundleOrSource(program, folder)]
    const command = ['-c', 'exec "$@" 3< /dev/null', 'program', ...argv]
    execFile('/bin/sh', command, { env, maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })

const codeFolders = () => versions().map(({ name }) => join(folder, name))

test('compilePrograms() makes a folder of code, which everybody may read and nobody write', () => {
  // A flag that changes the code would need one more, and each start of its program compile again.
  assert.equal(codeFolders().length, 1)
  for (const code of [...codeFolders(), bundlesIn(folder)]) {
    const modes = readdirSync(code).map((file) => statSync(join(code, file)).mode & 0o777)
    assert.ok(modes.length > 100, code)
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
    assert.ok(words.includes(`${bundleOrSource(program, folder)} was accepted`))
    assert.doesNotMatch(words, /was (not initialized|rejected)|writing cache for/)
    assert.deepEqual(
      codeFolders().map((code) => readdirSync(code).length),
      before,
    )
  })

test('stacks of a bundle name the lines of its sources, and so do its own places', async () => {
  const source = pathOf(FAULTY)
  const words = await wordsOfNode(FAULTY)
  assert.match(words, /^ErgonError: Refused\n +at refuse \(file:/m)
  const lines = readFileSync(source, 'utf8').split('\n')
  const line = lines.findIndex((text) => text.includes('throw new')) + 1
  assert.ok(words.includes(`(${pathToFileURL(source).href}:${line}:`), words)
  assert.match(words, new RegExp(`^${source}$`, 'm'))
})

test("a program without V8's code compiles by itself, without a bundle it runs from its sources", async () => {
  for (const code of codeFolders()) rmSync(`${code}-${process.getuid?.()}`)
  assert.doesNotMatch(await wordsOfNode(SIGNER_PROGRAM), /signer\.mjs was accepted/)
  assert.equal(bundleOrSource(SIGNER_PROGRAM, folder), join(bundlesIn(folder), 'signer.mjs'))
  assert.equal(bundleOrSource(SIGNER_PROGRAM, root), pathOf(SIGNER_PROGRAM))
})

test('compilePrograms() leaves no bundle behind where one of them cannot be made', async () => {
  const broken = join(root, 'broken')
  await compilePrograms({
    folder: broken,
    programs: [SIGNER_PROGRAM, { file: 'node/absent.ts', flags: [] }],
    log: createLogger('test', { write: () => undefined }),
    signal: AbortSignal.timeout(60_000),
  })
  assert.equal(bundleOrSource(SIGNER_PROGRAM, broken), pathOf(SIGNER_PROGRAM))
})

test('compilePrograms() makes bundles again that are gone while the stamp says all is there', async () => {
  const lost = join(root, 'lost')
  const given = {
    folder: lost,
    programs: [SIGNER_PROGRAM],
    log: createLogger('test', { level: 'warn' }),
    signal: AbortSignal.timeout(60_000),
  }
  await compilePrograms(given)
  rmSync(bundlesIn(lost), { recursive: true })
  await compilePrograms(given)
  assert.equal(bundleOrSource(SIGNER_PROGRAM, lost), join(bundlesIn(lost), 'signer.mjs'))
})

test('compilePrograms() does not reject where nothing can be written or removed', async () => {
  const lines: string[] = []
  await compilePrograms({
    folder: join(root, 'too-long'.repeat(40)),
    programs: [SIGNER_PROGRAM],
    log: createLogger('test', { write: (line) => void lines.push(line) }),
    signal: AbortSignal.timeout(60_000),
  })
  assert.match(lines.join(''), /could not be compiled beforehand/)
})

test('compilePrograms() does it again when the code has changed, and not otherwise', async () => {
  const stamp = join(folder, 'stamp')
  assert.match(readFileSync(stamp, 'utf8'), /^[0-9a-f]{64}$/)
  const { mtimeMs } = statSync(stamp)
  await compile()
  assert.equal(statSync(stamp).mtimeMs, mtimeMs)
})
