// The names that an expression refers to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceText } from '#hcl/source-text.ts'
import { parseFile } from '#hcl/syntax/parse-body.ts'
import { referencesOf } from './references.ts'

function namesOf(expression: string): string[] {
  const { body } = parseFile(new SourceText('a.hcl', `x = ${expression}\n`))
  const value = body.attributes[0]?.value
  assert.ok(value !== undefined, expression)
  return [...referencesOf(value)].map(({ root, name }) =>
    name === undefined ? root : `${root}.${name}`,
  )
}

test('referencesOf() finds every name, also in templates, keys, calls and conditions', () => {
  assert.deepEqual(namesOf('var.a + local.b["c"] * -f(workload.d.url, x)'), [
    'var.a',
    'local.b',
    'workload.d',
    'x',
  ])
  assert.deepEqual(
    namesOf('"${var.a}%{ if local.b }${c.d}%{ endif }%{ for x in var.l }${x}${y}%{ endfor }"'),
    ['var.a', 'local.b', 'c.d', 'var.l', 'y'],
  )
  assert.deepEqual(namesOf('{ (var.k) = [a ? b : c], d = var["e"] }'), [
    'var.k',
    'a',
    'b',
    'c',
    'var.e',
  ])
  assert.deepEqual(namesOf('var[local.key].x[*].y[z]'), ['var', 'local.key', 'z'])
})

test('referencesOf() leaves out the names that a for gives to its items', () => {
  assert.deepEqual(namesOf('[for k, v in var.l : "${k}${v.a}${w}" if v.ok]'), ['var.l', 'w'])
  assert.deepEqual(namesOf('{for var in var.l : var.name => var}'), ['var.l'])
})
