import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { buildConsole } from './build-console.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-console-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function buildBy(program: string, signal = new AbortController().signal): Promise<string> {
  mkdirSync(join(folder, 'portal'), { recursive: true })
  writeFileSync(join(folder, 'portal', 'build.ts'), program)
  let lines = ''
  const log = createLogger('test', { level: 'info', write: (line) => (lines += line) })
  const tell = (text: string) => (lines += `start: ${text}\n`)
  await buildConsole({ folder, log, tell, signal })
  return lines
}

test('buildConsole() runs the build of the tree, and says how it ended', async () => {
  const program =
    "import { writeFileSync } from 'node:fs'; writeFileSync('made', ''); console.log('2 s')"
  assert.match(await buildBy(program), /"The console is built".*2 s/)
  assert.ok(existsSync(join(folder, 'made')))
})

test('buildConsole() says when a build begins, and only then', async () => {
  const [begun = '', ended = ''] = (await buildBy("console.log('portal: building')")).split('\n')
  assert.equal(
    begun,
    'start: the console is being built; an earlier build is served meanwhile, where there is one',
  )
  assert.equal(ended, 'start: the console is built')
  assert.doesNotMatch(await buildBy("console.log('portal: unchanged')"), /start:/)
  const program = readFileSync(join(import.meta.dirname, '../../portal/build.ts'), 'utf8')
  assert.match(program, /console\.log\('portal: building'\)/)
})

test('buildConsole() logs a build that fails, and goes on', async () => {
  assert.match(await buildBy("throw new Error('no such module')"), /not built.*no such module/)
})

test('buildConsole() ends with its signal', async () => {
  const begunMs = performance.now()
  await buildBy('setInterval(() => undefined, 1000)', AbortSignal.timeout(300))
  assert.ok(performance.now() - begunMs < 20_000)
})

test('buildConsole() does nothing in a package, which has no sources', async () => {
  rmSync(join(folder, 'portal'), { recursive: true })
  const log = createLogger('test', { level: 'info', write: () => assert.fail('nothing to say') })
  await buildConsole({ folder, log, tell: log.info, signal: new AbortController().signal })
})
