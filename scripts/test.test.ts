// npm test on planted files. A file that fails once is named, and a file that fails twice fails the run. Neighbours in
// a process do not answer for each other. A file that needs another one is found.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'

const PROGRAM = join(import.meta.dirname, 'test.ts')
const GOOD = `test('good', () => {})`
const ONCE = `
  test('once', () => {
    if (existsSync('there')) return
    writeFileSync('there', '')
    throw new TypeError('planted')
  })`
const ALWAYS = `test('always', () => { throw new TypeError('planted') })`
/** Hooks of a neighbour would count this file's test as well. */
const HOOKS = `
  let hooks = 0
  beforeEach(() => void hooks++)
  test('own hooks', () => { if (hooks !== 1) throw new TypeError('hooks: ' + hooks) })`

/** Files of equal settings share a process, in this order unless it is shuffled. */
const PRODUCT = `const PLANTED = 0, product = () => {}\nproduct(PLANTED)\n`
const FIRST = `${PRODUCT}test('first', () => { globalThis.isMade = true })`
const SECOND = `${PRODUCT}test('second', () => { if (!globalThis.isMade) throw new TypeError('planted') })`

/** Runs npm test's program on files of a folder: names and bodies. */
async function outcomeOf(
  t: TestContext,
  bodies: Readonly<Record<string, string>>,
  { inside = 'src', words = [] }: { inside?: string; words?: readonly string[] } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-suite-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, inside))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const head = `import { beforeEach, test } from 'node:test'\nimport { existsSync, writeFileSync } from 'node:fs'\n`
  for (const [name, body] of Object.entries(bodies))
    writeFileSync(join(folder, inside, `${name}.test.ts`), `${head}${body}\n`)
  // Inside a test runner another one runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [PROGRAM, `${inside}/*.test.ts`, ...words], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: t.signal,
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const said = await text(child.stdout)
  return { code: await ended, unstable: said.match(/^UNSTABLE: \S+/gm), said }
}

test('npm test is green when all pass, and names what failed once', async (t) => {
  const files = { a: HOOKS, b: HOOKS, c: ONCE, d: HOOKS, e: GOOD }
  const { code, unstable, said } = await outcomeOf(t, files)
  assert.deepEqual(unstable, ['UNSTABLE: src/c.test.ts'], said)
  assert.match(said, /; the machine used \d+\.\d s, [1-9]\d* % of [1-9]\d* cores$/m)
  assert.match(said, /^4 passed, 1 failed, 0 skipped$/m)
  assert.match(said, /^1 passed, 0 failed, 0 skipped$/m)
  assert.equal(code, 0)
})

test('npm test is red when a file fails twice, in a test or at its import, alone or among others', async (t) => {
  const broken = `throw new TypeError('planted at its import')`
  for (const files of [{ a: GOOD, b: ALWAYS, c: GOOD, d: broken }, { a: ALWAYS }]) {
    const { code, unstable, said } = await outcomeOf(t, files)
    assert.equal(said.match(/^FAILED: always/gm)?.length, 2, said)
    if ('d' in files) assert.match(said, /FAILED: src\/d.test.ts .*\n.*planted at its import/)
    // A file that failed once alone would be named here.
    assert.equal(unstable, null, said)
    assert.equal(code, 1)
  }
})

test('npm test is red when a file ends its process, and runs the ones behind it', async (t) => {
  for (const how of [0, 3]) {
    const exits = `test('exits', () => process.exit(${how}))`
    const { code, said } = await outcomeOf(t, { a: GOOD, b: GOOD, c: exits, d: GOOD, e: GOOD })
    // Of the same process, it was not reached.
    assert.match(said, /ended before the turn of [12] files: each runs alone/)
    assert.doesNotMatch(said, /UNSTABLE: src\/c/)
    assert.equal(code, 1, said)
  }
})

test('a file that needs another one passes behind it, and fails in another order or alone', async (t) => {
  const files = { a: FIRST, b: SECOND }
  const codeWith = async (...words: string[]) =>
    (await outcomeOf(t, files, { inside: 'test', words })).code
  assert.equal(await codeWith('--shuffle', '1'), 0, 'a, b')
  assert.equal(await codeWith('--shuffle', '2'), 1, 'b, a')
  assert.equal(await codeWith('--alone'), 1)
})
