import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { test } from 'node:test'

const MODULE = new URL('./priority.ts', import.meta.url).href
/** Root may raise any priority: the caller becomes nobody first. */
const SCRIPT = `
  const { giveWay } = await import('${MODULE}')
  const { getPriority } = await import('node:os')
  if (process.getuid() === 0) process.setuid(65534)
  giveWay()
  process.stdout.write(String(getPriority()))`
const node = [process.execPath, '--input-type=module', '--eval', SCRIPT]

const priorityOf = (...before: readonly string[]): number => {
  const [program = '', ...args] = [...before, ...node]
  return Number(execFileSync(program, args, { encoding: 'utf8' }))
}

test('giveWay() lowers the priority of the process to 10, and raises none', () => {
  assert.equal(priorityOf(), Math.max(10, getPriority()))
  assert.equal(priorityOf('nice', '-n', '19'), 19)
})
