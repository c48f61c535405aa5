import { equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Writable } from 'node:stream'

const CHILD = `
import { onParentGone, readConfig } from '#base/parent.ts'
const config = await readConfig()
onParentGone(() => { process.stdout.write('gone\\n'); process.exit(7) })
process.stdout.write(config.name + '\\n')
setInterval(() => {}, 1000)
`

function startChild(): { child: ReturnType<typeof spawn>; parent: Writable } {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', CHILD], {
    cwd: new URL(import.meta.resolve('#base/parent.ts').replace(/src\/base\/.*$/, '')).pathname,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  return { child, parent: child.stdio[3] as Writable }
}

test('readConfig() reads the line in pieces and onParentGone() calls back at its end', async () => {
  const { child, parent } = startChild()
  parent.write('{"name":')
  parent.write(`"${'x'.repeat(100_000)}"}\n`)
  let printed = ''
  child.stdout?.on('data', (data) => (printed += data))
  while (!printed.includes('\n')) await once(child.stdout!, 'data')
  equal(printed.trim().length, 100_000)
  parent.end()
  const [code] = await once(child, 'exit')
  equal(code, 7)
  match(printed, /gone\n$/)
})

test('readConfig() refuses a line that is cut short, and one that is not JSON', async () => {
  for (const [text, said] of [
    ['{"name":"x"}', /it ended after 12 bytes/],
    ['nonsense\n', /not JSON/],
  ] as const) {
    const { child, parent } = startChild()
    let printed = ''
    child.stderr?.on('data', (data) => (printed += data))
    parent.end(text)
    const [code] = await once(child, 'close')
    equal(code, 1)
    match(printed, said)
  }
})
