// Commands on a terminal: the plan of `ergon deploy` is asked for, the joules are one line that is drawn again, ^C leaves;
// a bucket with objects is removed once its name is typed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { CTRL_C, CTRL_D, openTerminal } from './terminal.ts'

product(PLAIN)

const ERASE_LINE = '\u001b[2K'

/** A twentieth of a budget is charged at once, in place of a minute later: what the start of its process takes. */
const STACK = `bucket "terminal-photos" {
}
function "terminal" {
  file          = "hello.mjs"
  energy_budget = "10 J/day"
}`

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-terminal-'))
  writeFileSync(join(folder, 'ergon.hcl'), STACK)
  writeFileSync(join(folder, 'hello.mjs'), 'export default () => new Response()')
})
after(() => rmSync(folder, { recursive: true, force: true }))

const deploy = (columns = 80) =>
  terminalOf(['deploy', '--stack', 'terminal', '--file', join(folder, 'ergon.hcl')], columns)

function terminalOf(words: readonly string[], columns = 80) {
  const { token, baseUrl } = sharedErgon()
  const env = {
    PATH: process.env['PATH'] ?? '',
    ERGON_TOKEN: token,
    ERGON_BASE_URL: baseUrl,
    XDG_CONFIG_HOME: folder,
  }
  return openTerminal(words, env, columns)
}
const deployments = async () => {
  const { stdout } = await sharedErgon().cli('deployments', 'list', '--stack', 'terminal', '--json')
  return (JSON.parse(stdout) as { data: unknown[] }).data.length
}

for (const [key, keys] of [
  ['no', 'n\r'],
  ['^C', CTRL_C],
  ['^D', CTRL_D],
])
  test(`${key} at the plan changes nothing, and says so`, async () => {
    await using terminal = deploy()
    await terminal.shows(/\+ bucket\.terminal-photos[^]*Apply the plan\? \[y\/N\]/)
    terminal.press(String(keys))
    const code = await terminal.ended()
    assert.match(
      terminal.text(),
      /\n.*error.*: Nothing was changed: the plan is not confirmed\r\n$/,
    )
    assert.equal(code, 1)
    assert.equal(await deployments(), 0)
  })

test('the joules are one line, however narrow the terminal is; ^C ends at a line of its own', async () => {
  await using terminal = deploy(50)
  await terminal.shows(/Apply the plan/)
  terminal.press('y\r')
  await terminal.shows(/\^C leaves it running/)
  await terminal.shows(/(joules [^]*?){4}/)
  await terminal.shows(/joules {2}\d+\.\d+ J of this stack/)
  await terminal.shows(/reading costs about [\d.]+ mJ a minute; \^C ends it/)
  terminal.press(CTRL_C)
  assert.equal(await terminal.ended(), 0)
  assert.match(terminal.text(), /\r\n$/)
  const lines = terminal
    .text()
    .split(ERASE_LINE)
    .slice(1)
    .map((text) => text.split(/[\r^]/)[0] ?? '')
  assert.ok(lines.length >= 3)
  for (const line of lines) assert.ok(line.length < 50, line)
})

test('rb of a bucket with objects removes it once its name is typed', async () => {
  const name = 'terminal-full'
  const done = async (...words: string[]) => {
    const { code, stderr } = await sharedErgon().cli('storage', ...words)
    assert.equal(code, 0, stderr)
  }
  await done('mb', name)
  await done('cp', join(folder, 'hello.mjs'), `s3://${name}/`)
  for (const [typed, code, words] of [
    ['yes', 1, /Nothing was deleted/],
    [name, 0, /removed 1 version and 0 delete markers, and s3:\/\/terminal-full/],
  ] as const) {
    await using terminal = terminalOf(['storage', 'rb', name])
    await terminal.shows(
      /with every version of its objects, for good[^]*Type the name to confirm: /,
    )
    terminal.press(`${typed}\r`)
    assert.equal(await terminal.ended(), code)
    assert.match(terminal.text(), words)
  }
})
