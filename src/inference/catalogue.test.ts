import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalogue } from './catalogue.ts'
import { offerOf } from './testing/offers.ts'

test('modelOf() follows an alias to a model that there is, and a model’s own name comes first', () => {
  const catalogue = createCatalogue()
  const aliases = new Map([
    ['gpt-4o-mini', 'small'],
    ['gpt-4o', 'auto'],
    ['gpt-5', 'gone'],
    ['gpt-6', 'gpt-4o'],
    ['small', 'auto'],
    ['auto', 'small'],
  ])
  catalogue.replace([offerOf({ id: 'small' })], aliases)
  const names = [...aliases.keys(), 'other']
  assert.deepEqual(
    names.map((name) => catalogue.modelOf(name)),
    // An alias of nothing, or of an alias, stays what was asked for: that is what the 404 names.
    ['small', 'auto', 'gpt-5', 'gpt-6', 'small', 'auto', 'other'],
  )
  assert.deepEqual([...catalogue.aliases().keys()], ['gpt-4o-mini', 'gpt-4o'])
})
