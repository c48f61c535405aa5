import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grammarSchema } from './json-schema.ts'

const convert = (schema: unknown, strict = false) => grammarSchema(schema, 'schema', strict)

describe('grammarSchema()', () => {
  it('keeps what a grammar can hold', () => {
    const schema = {
      type: 'object',
      title: 'Person',
      properties: {
        name: { type: 'string', maxLength: 20, description: 'full' },
        tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 3 },
        boss: { anyOf: [{ $ref: '#/$defs/boss' }, { type: 'null' }] },
      },
      required: ['name'],
      additionalProperties: false,
      $defs: { boss: { type: 'object', properties: { id: { type: 'integer' } } } },
    }
    assert.deepEqual(convert(schema, true), {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 20 },
        tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 3 },
        boss: { oneOf: [{ $ref: '#/$defs/boss' }, { type: 'null' }] },
      },
      $defs: { boss: { type: 'object', properties: { id: { type: 'integer' } } } },
    })
  })

  it('splits a list of types', () => {
    const { oneOf } = convert({ type: ['array', 'null'], items: { type: 'number' } })
    assert.deepEqual(oneOf, [{ type: 'array', items: { type: 'number' } }, { type: 'null' }])
  })

  it('refuses under strict what it cannot hold, else leaves it out', () => {
    const schema = { type: 'object', properties: { zip: { type: 'string', pattern: '^[0-9]+$' } } }
    assert.throws(() => convert(schema, true), { code: 'invalid_request', param: 'schema' })
    assert.deepEqual(convert(schema)['properties'], { zip: { type: 'string' } })
  })

  it('refuses schemas without bounds', () => {
    let deep: unknown = { type: 'string' }
    for (let level = 0; level < 40; level++) deep = { type: 'array', items: deep }
    assert.throws(() => convert(deep), /nested deeper/)
    const wide = Array.from({ length: 2000 }, () => ({ type: 'null' }))
    assert.throws(() => convert({ anyOf: wide }), /more than 1000/)
    assert.throws(() => convert({ type: 'array', maxItems: 1e9 }), /maxItems/)
    assert.throws(() => convert({ type: 'object', properties: { a: { enum: [] } } }), /empty enum/)
    assert.throws(() => convert({ $ref: '#/$defs/none' }), /to nothing/)
    assert.throws(() => convert({ $ref: 'https://example.org/schema' }), /\$ref/)
  })
})
