import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { LlamaGrammar, LlamaLogLevel, getLlama, type Llama } from 'node-llama-cpp'
import { uniform } from '#inference/engine/sample.ts'
import { deterministicGrammar } from './deterministic-grammar.ts'
import { fits, sample } from './grammar.fixture.ts'
import { ORDINARY_SCHEMAS } from './ordinary-schemas.fixture.ts'
import { formatGrammar } from './request-grammar.ts'

const grammarOf = (schema: unknown, strict = false) =>
  formatGrammar(schema as Record<string, unknown>, 'schema', strict)
const SAMPLES = 40

function validatorOf(schema: object): (value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, multipleOfPrecision: 9 })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : [ajv.errorsText(validate.errors)])
}

/** The values that the grammar of a schema accepts. */
const taken = (schema: unknown, values: readonly unknown[]): unknown[] => {
  const grammar = grammarOf(schema)
  return values.filter((value) => fits(grammar, JSON.stringify(value)))
}

describe('formatGrammar()', () => {
  let llama: Llama
  before(async () => {
    const quiet = { progressLogs: false, logLevel: LlamaLogLevel.error } as const
    llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, ...quiet })
  })

  for (const [name, schema] of Object.entries(ORDINARY_SCHEMAS))
    it(`holds ${name}: what fits is valid, compact, and the engine takes the grammar`, () => {
      const grammar = grammarOf(schema, true)
      const gbnf = deterministicGrammar(grammar, 'schema')
      assert.ok(new LlamaGrammar(llama, { grammar: gbnf }))
      const faultsOf = validatorOf(schema)
      const random = uniform(7)
      for (let count = 0; count < SAMPLES; count++) {
        const text = sample(grammar, random)
        const value: unknown = JSON.parse(text)
        assert.deepEqual(faultsOf(value), [], text)
        assert.doesNotMatch(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''), /\s/)
      }
    })

  it('… and a validator finds what a grammar of another schema writes', () => {
    const faultsOf = validatorOf({ properties: { price: { minimum: 100 } } })
    const grammar = grammarOf({ properties: { price: { type: 'integer', maximum: 99 } } })
    assert.notDeepEqual(faultsOf(JSON.parse(sample(grammar, uniform(1)))), [])
  })

  it('takes all whole numbers of a range and no others', () => {
    const numbers = Array.from({ length: 260 }, (_, index) => index - 130)
    for (const [minimum, maximum] of [
      [-5, 17],
      [0, 0],
      [99, 101],
      [-120, -7],
    ] as const)
      assert.deepEqual(
        taken({ type: 'integer', minimum, maximum }, numbers),
        numbers.filter((each) => each >= minimum && each <= maximum),
      )
  })

  it('takes what JSON Schema says, keyword by keyword', () => {
    const cases: [unknown, unknown[], unknown[]][] = [
      [
        { type: 'number', minimum: 0.05, maximum: 1.5 },
        [0.05, 0.1, 1, 1.49, 1.5],
        [0.049, 1.51, 0],
      ],
      [{ type: 'number', exclusiveMaximum: -2.5 }, [-2.51, -3], [-2.5, -2, 2]],
      [{ type: 'number', multipleOf: 0.25 }, [0.25, -1.5, 3], [0.3, 1.1]],
      [{ type: 'integer', minimum: 1e3 }, [1000, 99_999], [999, -1000]],
      [{ type: 'string', minLength: 2, maxLength: 300 }, ['ab', 'é😀', 'a'.repeat(300)], ['a']],
      [{ type: 'string', maxLength: 300 }, ['a"\\\n'], ['a'.repeat(301)]],
      [{ enum: ['a', 'ab', null, 1] }, ['a', 'ab', null, 1], ['b', '', 2]],
      [{ enum: ['a', 'ab', 3], type: 'string', maxLength: 1 }, ['a'], ['ab', 3]],
      [{ const: { a: [1] } }, [{ a: [1] }], [{ a: [2] }, {}]],
      [{ enum: ['👍', '👎', '👍🏽'] }, ['👍', '👎', '👍🏽'], ['👌', '']],
      [
        { enum: ['\u007f', 'x\u0001', '\0', '\uffff'] },
        ['\u007f', 'x\u0001', '\0', '\uffff'],
        ['x'],
      ],
      [
        { enum: Array.from({ length: 800 }, (_, index) => 'a'.repeat(index)) },
        ['a', 'a'.repeat(799)],
        ['a'.repeat(800), 'b'],
      ],
      [{ enum: ['\u007f', '\0\0'], maxLength: 1 }, ['\u007f'], ['\0\0']],
      [
        { properties: { '👍': { const: 1 }, '👎': { const: 2 }, 'x\0': { const: 3 } } },
        [{ '👍': 1, '👎': 2, 'x\0': 3 }],
        [{ '👌': 1 }],
      ],
      [{ type: 'array', items: { type: 'boolean' }, minItems: 1 }, [[true]], [[], [1]]],
      [{ type: 'array', minItems: 2, maxItems: 2 }, [[1, {}]], [[1], [1, 2, 3]]],
      [{ type: 'object', required: ['a'] }, [{ a: 1 }, { a: {} }], [{}, { b: 1 }]],
      [{ type: 'object' }, [{}, { a: { b: [null] } }], [[], 1]],
      [
        { properties: { a: { type: 'null' } }, additionalProperties: true },
        [{ a: null, b: 1 }],
        [],
      ],
      [
        { properties: { a: {}, b: {} }, dependentRequired: { a: ['c'] } },
        [{ a: 1, b: 2, c: 3 }],
        [{ a: 1, b: 2 }],
      ],
      [{ allOf: [{ minimum: 3 }, { maximum: 5, type: 'integer' }] }, [3, 5], [2, 6, 'a']],
      [{ anyOf: [{ type: 'null' }, { minimum: 3, type: 'integer' }] }, [null, 3], [2]],
      [{ type: 'object', unevaluatedProperties: false }, [{}], [{ a: 1 }]],
      [{ type: ['integer', 'number'] }, [1.5, 1], ['a']],
    ]
    for (const [schema, valid, invalid] of cases) {
      assert.deepEqual(taken(schema, valid), valid, JSON.stringify(schema))
      assert.deepEqual(taken(schema, invalid), [], JSON.stringify(schema))
    }
  })

  it('never writes a declared name again, whose value another schema would have', () => {
    const grammar = grammarOf({
      properties: { a: { type: 'integer' } },
      additionalProperties: true,
    })
    assert.ok(fits(grammar, '{"a":1,"b":"x"}'))
    assert.ok(!fits(grammar, '{"a":1,"a":"x"}'))
  })

  it('writes nothing between the parts of a value', () => {
    const grammar = grammarOf({ properties: { a: { type: 'array', items: { type: 'integer' } } } })
    assert.ok(fits(grammar, '{"a":[1,2]}'))
    for (const spaced of ['{"a": [1,2]}', '{ "a":[1,2]}', '{"a":[1, 2]}', '{"a":[1,2]}\n'])
      assert.ok(!fits(grammar, spaced))
  })

  const refused: [string, unknown, RegExp][] = [
    ['not', { not: { type: 'string' } }, /"not"/],
    ['if', { if: {}, then: {} }, /"if"/],
    [
      'uniqueItems',
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      /"uniqueItems"/,
    ],
    ['a backreference', { pattern: '(a)\\1' }, /the pattern "\(a\)\\\\1": \\1 is not served/],
    ['a lookahead inside', { pattern: '^a(?=b)' }, /the pattern .*lookaheads after a leading/],
    ['a pattern that is none', { pattern: '(' }, /a parenthesis is not closed/],
    ['a format of no pattern', { format: 'regex' }, /"regex"/],
    ['a $ref elsewhere', { $ref: 'https://example.org/s' }, /\$ref must be a place in this schema/],
    ['a $ref to nothing', { $ref: '#/$defs/none' }, /\$ref to nothing/],
    ['a $ref to itself', { $ref: '#' }, /its own \$ref/],
    ['a value without end', { properties: { a: { $ref: '#' } }, required: ['a'] }, /without end/],
    ['an empty enum', { enum: [] }, /empty enum/],
    ['nothing valid', { type: 'integer', minimum: 3, maximum: 2 }, /nothing is valid/],
    ['parts that exclude each other', { allOf: [{ type: 'string' }, { type: 'null' }] }, /nothing/],
    ['half a surrogate pair in an enum', { enum: ['a', '\ud83d'] }, /"\\ud83d" is not Unicode/],
    ['half a pair inside a constant', { const: [{ '\udc4d': 1 }] }, /"\\udc4d" is not Unicode/],
    ['half a pair in a name', { properties: { 'a\ud83d': {} } }, /"a\\ud83d" is not Unicode/],
    ['half a pair in a pattern', { pattern: '^\ud83d$' }, /the pattern "\^\\ud83d\$": /],
    [
      'a control character beside a pattern',
      { enum: ['xa', 'x\u0001'], pattern: '^x' },
      /"x\\u0001" has characters that no pattern is held against/,
    ],
    [
      'a control character in a name beside patternProperties',
      { properties: { 'x\0': {} }, patternProperties: { '^x': { type: 'null' } } },
      /"x\\u0000" has characters/,
    ],
    [
      'a control character in propertyNames',
      { propertyNames: { enum: ['a', '\u007f'] }, additionalProperties: true },
      /has characters/,
    ],
    ['a number beyond a double', { enum: [1, Infinity] }, /beyond/],
    ['an unknown type', { type: 'money' }, /unknown type "money"/],
    ['a bound that is no number', { type: 'integer', minimum: '3' }, /minimum must be a number/],
  ]
  for (const [what, schema, message] of refused)
    it(`refuses ${what}, with its name`, () => {
      assert.throws(() => grammarOf(schema), { code: 'invalid_request', status: 400, message })
    })

  it('takes names that JSON Schema does not know as notes, but under strict', () => {
    for (const schema of [
      { type: 'string', 'x-note': 1 },
      { type: 'string', format: 'phone' },
    ]) {
      assert.ok(grammarOf(schema))
      assert.throws(() => grammarOf(schema, true), /"strict" does not know/)
    }
  })

  const deep = (levels: number): object =>
    Array.from({ length: levels }).reduce<object>((items) => ({ type: 'array', items }), {})
  const LONG_NAMES = Array.from({ length: 600 }, (_, index) => `${'a'.repeat(900)}${index}`)
  const MANY_NAMES = Array.from({ length: 11_000 }, (_, index) => `p${index}`)
  const EXPLOSIVE: [string, unknown][] = [
    ['counts of counts', { pattern: '((((a{1000}){1000}){1000}){1000})' }],
    ['a state for every memory', { pattern: '^.*a.{40}$' }],
    ['nesting', deep(500)],
    ['alternatives of alternatives', { allOf: Array(20).fill({ anyOf: [{}, {}] }) }],
    ['long names', { properties: Object.fromEntries(LONG_NAMES.map((name) => [name, {}])) }],
    [
      'many properties',
      { properties: Object.fromEntries(MANY_NAMES.map((name) => [name, { type: 'null' }])) },
    ],
    ['many required names', { required: MANY_NAMES }],
    ['a wide step', { type: 'number', multipleOf: 0.123_456_789 }],
  ]
  for (const [what, schema] of EXPLOSIVE)
    it(`refuses what would explode: ${what}`, () => {
      assert.throws(() => grammarOf(schema), { code: 'invalid_request' })
    })
})
