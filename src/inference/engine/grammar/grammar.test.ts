import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EMPTY, or, Rules, seq, text, type Expr } from './grammar.ts'
import { fits } from './grammar.fixture.ts'

const named = (index: number): Expr => ({ kind: 'rule', name: `r${index}` })

/** Rules that each need the next one; they are finished in `steps`. */
function chain(length: number, last: Expr) {
  const rules = new Rules()
  for (let index = 0; index < length; index++) {
    const name = rules.reserve()
    rules.set(name, index + 1 < length ? seq(text('a'), named(index + 1)) : last)
  }
  let steps = 0
  const grammar = rules.finished(named(0), (more) => (steps += more))
  return { grammar, steps }
}

describe('Rules', () => {
  it('takes steps for all that it looks at, in proportion to the grammar', () => {
    const [short, long] = [chain(500, text('b')), chain(1000, text('b'))]
    assert.ok(short.steps > 500, `${short.steps} steps`)
    assert.ok(long.steps < 2.1 * short.steps, `${long.steps} steps after ${short.steps}`)
  })

  it('leaves out what never ends, also in a circle, and keeps what does', () => {
    assert.equal(chain(5, named(0)).grammar, undefined)
    const { grammar } = chain(3, or([named(0), named(9), EMPTY]))
    assert.ok(grammar !== undefined)
    assert.deepEqual(
      ['aa', 'aaaa', 'a', 'aaa'].map((value) => fits(grammar, value)),
      [true, true, false, false],
    )
  })

  it('refuses half a surrogate pair as a text', () => {
    assert.throws(() => text('\ud83d'), /Unicode/)
  })
})
