// The engine's grammar has the texts of the schema, and one reading of every beginning. The cost of schemas per token
// is counted as readings, not timed.
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { getLlama, LlamaLogLevel, type Llama, type LlamaGrammar } from 'node-llama-cpp'
import { deterministicGrammar, WAYS_MAX } from '#inference/engine/grammar/deterministic-grammar.ts'
import { formatGrammar } from '#inference/engine/grammar/request-grammar.ts'
import { gbnfOf } from './gbnf.ts'
import { parseGbnf, type Grammar } from './gbnf-reader.ts'
import { nestedUnions } from './nested-unions.ts'
import { mostReadings } from './readings.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const RUNS = LONG ? 20_000 : 40
const TEXTS = 12

let llama: Llama
before(async () => {
  llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.disabled,
  })
})

/** The grammar of a schema as written, before its readings are separated. */
const plain = async (schema: object): Promise<LlamaGrammar> =>
  await llama.createGrammar({ grammar: gbnfOf(treeOf(schema)) })

const treeOf = (schema: object) => formatGrammar({ ...schema }, 'schema', false)

const fits = (grammar: LlamaGrammar, text: string): boolean =>
  // Not public: the engine's own word on whether a whole text is of the grammar.
  (grammar as unknown as { _testText(text: string): boolean })._testText(text)

/** Arrays that nothing tells apart until their innermost item. */
const lateTags = (levels: number, tag = ''): object =>
  levels === 0
    ? { const: tag }
    : {
        anyOf: ['a', 'b', 'c', 'd'].map((next, minItems) => ({
          type: 'array',
          items: lateTags(levels - 1, tag + next),
          minItems,
        })),
      }

const schemas = fc.letrec<{ any: object; object: object }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<object>(
      { type: 'integer' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'null' },
      { type: 'string', maxLength: 3 },
      { type: 'string', format: 'date' },
      { enum: ['a', 'ab', 'ac', 1, 12, null] },
      { $ref: '#/$defs/tree' },
      { $ref: '#/$defs/union' },
      {},
    ),
    tie('object'),
    fc.record({
      type: fc.constant('array'),
      items: tie('any'),
      minItems: fc.integer({ min: 0, max: 2 }),
      maxItems: fc.integer({ min: 2, max: 4 }),
    }),
    fc.record({ anyOf: fc.array(tie('any'), { minLength: 1, maxLength: 4 }) }),
  ),
  object: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom('a', 'ab', 'é"', 'type'), tie('any'), { maxKeys: 3 }),
  }),
}))
const $defs = {
  tree: {
    anyOf: ['x', 'y'].map((tag) => ({
      type: 'object',
      properties: {
        children: { type: 'array', items: { $ref: '#/$defs/tree' } },
        type: { const: tag },
      },
    })),
  },
  union: {
    anyOf: [{ type: 'integer' }, { type: 'array', items: { $ref: '#/$defs/union' }, maxItems: 2 }],
  },
}

/** A text of a grammar, or one with an error in it. */
function sample({ rules, root }: Grammar, pick: (below: number) => number): string {
  let text = ''
  const walk = (rule: number, depth: number): void => {
    const alternatives = rules[rule] ?? []
    // The last ones end repetitions; what is deep must end.
    const alternative =
      alternatives[depth > 24 ? alternatives.length - 1 : pick(alternatives.length)] ?? []
    for (const symbol of alternative) {
      if (text.length > 400) return
      if ('rule' in symbol) walk(symbol.rule, depth + 1)
      else {
        const [from, to] = symbol.ranges[pick(symbol.ranges.length)] ?? [0, 0]
        const code = from + pick(Math.min(to - from + 1, 60))
        text += String.fromCodePoint(
          code === 0 || (code >= 0xd800 && code < 0xe000) ? from + 1 : code,
        )
      }
    }
  }
  walk(root, 0)
  const at = pick(text.length + 1)
  const kind = pick(3)
  return kind === 0 ? text : kind === 1 ? text.slice(0, at) + text.slice(at + 1) : text
}

describe('deterministicGrammar()', () => {
  it('keeps the texts of any schema, and has one reading of each beginning', async () => {
    await fc.assert(
      fc.asyncProperty(tieObject(), fc.infiniteStream(fc.nat()), async (schema, numbers) => {
        const before = await plain(schema)
        let gbnf: string
        try {
          gbnf = deterministicGrammar(treeOf(schema), 'schema')
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'invalid_request')
          return
        }
        const after = await llama.createGrammar({ grammar: gbnf })
        const pick = (below: number) => (numbers.next().value ?? 0) % Math.max(below, 1)
        const texts = parseGbnf(before.grammar, 'schema')
        for (let count = 0; count < TEXTS; count++) {
          const text = sample(texts, pick)
          assert.equal(fits(after, text), fits(before, text), JSON.stringify(text))
          assert.ok(mostReadings(gbnf, text) <= WAYS_MAX)
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('tells unions of arrays apart where they differ, at any depth', async () => {
    const gbnf = deterministicGrammar(treeOf(nestedUnions(8, 8)), 'schema')
    const text = '{"a":[[[[[[[[1,2'
    assert.ok(mostReadings(gbnf, text) <= 20, `${mostReadings(gbnf, text)} readings`)
    const [few, many] = [2, 4].map((levels) => nestedUnions(levels, 4))
    assert.ok(few !== undefined && many !== undefined)
    // Planted: the grammar as it was written, whose readings multiply with each bracket.
    assert.ok(mostReadings((await plain(few)).grammar, '{"a":[[1') >= 16)
    assert.ok(mostReadings((await plain(many)).grammar, '{"a":[[[[1') >= 256)
  })

  it('refuses what cannot be told apart, and what nothing fits', () => {
    const object = (a: object) => ({ type: 'object', properties: { a } })
    const refused = (schema: object, message: RegExp) => {
      const grammar = treeOf(schema)
      assert.throws(() => deterministicGrammar(grammar, 'schema'), {
        code: 'invalid_request',
        param: 'schema',
        message,
      })
    }
    refused(object(lateTags(4)), /begin alike/)
    const wide = Array.from({ length: 600 }, (_, index) => String.fromCodePoint(0x4e00 + index * 2))
    refused(object({ enum: wide }), /more than 500 ways/)
    const circle = { kind: 'rule', name: 'r' } as const
    const endless = { root: circle, rules: new Map([['r', circle]]) }
    assert.throws(() => deterministicGrammar(endless, 'schema'), /no value fits/)
    const long = { type: 'string', maxLength: 1000 }
    const many = Array.from({ length: 120 }, (_, index) => [
      `p${index}`,
      { ...long, minLength: index },
    ])
    refused({ type: 'object', properties: Object.fromEntries(many) }, /longer than/)
  })
})

const tieObject = () => schemas.object.map((schema) => ({ ...schema, $defs }))
