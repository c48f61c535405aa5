import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgressBar } from './progress-bar.ts'

const MIB = 1_048_576
const ESCAPES = /\^\[\??\d*[A-Za-z]|\r/g

/** A terminal that remembers what was written, and a clock that the test moves. */
function terminalOf(columns: number, isTTY = true) {
  const writes: string[] = []
  const clock = { nowMs: 0 }
  const terminal = { isTTY, columns, write: (text: string) => writes.push(text) > 0 }
  const bar = createProgressBar(terminal, () => clock.nowMs)
  /** The line after all writes: a bar, or nothing after its erasure. */
  const line = () => (writes.at(-1) ?? '').replaceAll('\u001b', '^').replaceAll(ESCAPES, '')
  return { writes, clock, bar, line }
}

test('a bar shows bytes, rate and remaining time, and is erased once when its work is done', () => {
  const { writes, clock, bar, line } = terminalOf(80)
  bar.show('model', 0, 100 * MIB)
  clock.nowMs = 10_000
  bar.show('model', 20 * MIB, 100 * MIB)
  assert.equal(line(), 'model [████                    ] 20/100 MiB, 2.0 MiB/s, 40 s left')
  bar.show('model', 100 * MIB, 100 * MIB)
  assert.equal(line(), '')
  const { length } = writes
  for (let again = 0; again < 3; again++) bar.show('model', 100 * MIB, 100 * MIB)
  bar.erase()
  assert.equal(writes.length, length, 'what is done is not written again')
  assert.ok(writes.every((text) => !text.includes('\n')))
})

test('no rate and no time left are shown before bytes have come for a second', () => {
  const { clock, bar, line } = terminalOf(80)
  const at = (nowMs: number, done: number) => {
    clock.nowMs = nowMs
    bar.show('model', done, 100 * MIB)
    return line()
  }
  at(0, 0)
  // Ten seconds until a server answers say nothing of its rate.
  at(10_000, 0)
  assert.doesNotMatch(at(10_300, 60_000), /left|MiB\/s/)
  assert.doesNotMatch(at(10_900, MIB), /left|MiB\/s/)
  assert.match(at(12_000, 20 * MIB), /20\/100 MiB, 10\.0 MiB\/s, 8 s left/)
})

test('one of two pieces of work has the line until it is done or silent', () => {
  const { clock, bar, line } = terminalOf(80)
  const step = (what: string, done: number) => {
    clock.nowMs += 1000
    bar.show(what, done * MIB, 10 * MIB)
  }
  step('one', 1)
  step('two', 1)
  assert.match(line(), /^one /)
  step('one', 10)
  assert.match(line(), /^two /)
  step('three', 1)
  assert.match(line(), /^two /)
  clock.nowMs += 5000
  step('three', 2)
  assert.match(line(), /^three /)
})

test('every line is written over the one before, and none is wider than its terminal', () => {
  for (const columns of [20, 40, 60, 200]) {
    const { writes, clock, bar, line } = terminalOf(columns)
    for (let done = 0; done < 10; done++) {
      clock.nowMs += 1000
      bar.show('smollm2-135m-instruct', done * MIB, 10 * MIB)
      // A name alone may be wider than the terminal: the terminal cuts it.
      assert.ok(line().length < columns || columns < 60, line())
    }
    assert.ok(writes.every((text) => text.startsWith('\r\u001b[2K\u001b[?7l')))
  }
})

test('bytes without a total, and a stream that is no terminal', () => {
  const known = terminalOf(60)
  known.bar.show('stdin', 3 * MIB, undefined)
  assert.equal(known.line(), 'stdin 3 MiB')
  const piped = terminalOf(60, false)
  piped.bar.show('model', 1, 2)
  piped.bar.erase()
  assert.deepEqual(piped.writes, [])
})
