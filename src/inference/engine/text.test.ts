import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createDetokenizer, createStopGate } from './text.ts'

/** Bytes as tokens: every character of more than one byte comes in parts. */
const detokenize = (bytes: readonly number[]) => Buffer.from(bytes).toString('utf8')

describe('createDetokenizer()', () => {
  it('gives whole characters and the same text in the end', () => {
    // A model can write U+FFFD, whose bytes are those of a character like any other.
    const character = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    const unit = fc.oneof(
      character.filter((one) => one.isWellFormed()),
      fc.constant('\ufffd'),
    )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (text) => {
        const detokenizer = createDetokenizer<number>(detokenize)
        const pieces = [...Buffer.from(text, 'utf8')].map((byte) => detokenizer.push(byte))
        pieces.push(detokenizer.end())
        assert.equal(pieces.join(''), text)
        for (const piece of pieces)
          assert.ok(!piece.includes('\ufffd') || text.includes('\ufffd'), JSON.stringify(piece))
      }),
      { numRuns: 500, examples: [['\ufffd\u00a0']] },
    )
  })

  it('does not wait for ever for bytes that are no UTF-8', () => {
    const detokenizer = createDetokenizer<number>(detokenize)
    const pieces = Array.from({ length: 8 }, () => 0xff).map((byte) => detokenizer.push(byte))
    assert.ok(pieces.join('').length > 0)
  })
})

describe('createStopGate()', () => {
  const run = (pieces: readonly string[], stops: readonly string[]) => {
    const gate = createStopGate(stops)
    let shown = ''
    for (const piece of pieces) {
      const { text, stopped } = gate.push(piece)
      shown += text
      if (stopped) return { shown, stopped }
    }
    return { shown: shown + gate.end(), stopped: false }
  }

  it('holds back what might become a stop string', () => {
    const gate = createStopGate(['END'])
    assert.deepEqual(gate.push('to the E'), { text: 'to the ', stopped: false })
    assert.deepEqual(gate.push('N'), { text: '', stopped: false })
    assert.deepEqual(gate.push('ough'), { text: 'ENough', stopped: false })
  })

  it('cuts at the first of several stops, however the text is split', () => {
    const alphabet = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 })
    const stops = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }),
      {
        maxLength: 4,
      },
    )
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 8 }), stops, (pieces, marks) => {
        const whole = pieces.join('')
        const got = run(pieces, marks)
        const cuts = marks.map((mark) => whole.indexOf(mark)).filter((at) => at >= 0)
        if (cuts.length === 0) return assert.deepEqual(got, { shown: whole, stopped: false })
        assert.equal(got.stopped, true)
        // Streaming decides as soon as any stop is complete, so a stop that begins earlier but ends
        // later may lose: what is shown never contains a stop and is a prefix of the text.
        assert.ok(whole.startsWith(got.shown))
        assert.ok(marks.every((mark) => !got.shown.includes(mark)))
      }),
    )
  })
})
