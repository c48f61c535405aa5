import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { accepts } from './automaton.ts'
import { createBudget } from './budget.ts'
import { patternAutomaton } from './pattern.ts'

const automatonOf = (source: string) =>
  patternAutomaton(source, { budget: createBudget(), param: 'pattern' })

const PATTERNS = [
  'b+',
  '^a|b$',
  '^(a|b)*$',
  '^$|^ab?$',
  '^[^ab]{1,2}$',
  '^(?:a{2,3}|-)+?b??$',
  '^\\w\\d?\\s*\\S$',
  '^(?<first>a)[a-c\\-_]+$',
  '^(?!a)(?=.*b).{1,3}$',
  '^(?!.*aa)[ab]*$',
  'a.c',
  '^[\\u0061\\x62]\\.$',
  '^a$b',
  '(^a)?b',
] as const

describe('patternAutomaton()', () => {
  for (const source of PATTERNS)
    it(`accepts what ${source} matches`, () => {
      const automaton = automatonOf(source)
      const regex = new RegExp(source, 'u')
      const texts = fc.string({ unit: fc.constantFrom(...'aabbc-_. 1\n😀é'), maxLength: 6 })
      fc.assert(
        fc.property(texts, (text) => accepts(automaton, text) === regex.test(text)),
        { numRuns: 400 },
      )
    })

  it('… and that property tells two patterns apart', () => {
    const automaton = automatonOf('^a+$')
    assert.ok(accepts(automaton, 'aa') && !accepts(automaton, ''))
    assert.notEqual(accepts(automaton, ''), /^a*$/.test(''))
  })

  it('accepts in linear time what makes others backtrack', () => {
    assert.equal(accepts(automatonOf('^(a+)+$'), `${'a'.repeat(20_000)}!`), false)
  })
})
