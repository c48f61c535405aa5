// Diagnostics: the place, the line with its caret, several faults of one file, and control characters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diagnosticRecord, renderDiagnostic } from './diagnostics.ts'
import { SourceText } from './source-text.ts'
import { parseFile } from './syntax/parse-body.ts'

function rendered(text: string): string[] {
  const source = new SourceText('ergon.hcl', text)
  return parseFile(source).diagnostics.map((one) => renderDiagnostic(source, one))
}

test('a diagnostic has the place, what was expected, the line and a caret', () => {
  assert.deepEqual(rendered('workload "api" {\n\timage = = "x"\n}\n'), [
    'ergon.hcl:2:10: Expected a value, found =\n 2 | \timage = = "x"\n   | \t        ^',
  ])
  assert.deepEqual(rendered('é = "😀" 1\n'), [
    'ergon.hcl:1:9: Expected the end of the line after this attribute, found 1; each attribute and block has a line of its own\n 1 | é = "😀" 1\n   |         ^',
  ])
})

test('the parser goes on after a fault: each faulty item is told, and no other', () => {
  const text = `workload "a" {
  image = [1 2]
  port  = 80
  env = {
    A = 1 B = 2
  }
}
route x {
  to =
}
b = 1
c 2
`
  const source = new SourceText('a.hcl', text)
  const { body, diagnostics } = parseFile(source)
  assert.deepEqual(
    diagnostics
      .map((one) => diagnosticRecord(source, one))
      .map(({ line, column }) => [line, column]),
    [
      [2, 14],
      [5, 11],
      [9, 7],
      [12, 3],
    ],
  )
  assert.deepEqual(
    body.blocks.map(({ type, body: inner }) => [
      type.text,
      inner.attributes.map(({ name }) => name.text),
    ]),
    [
      ['workload', ['port']],
      ['route', []],
    ],
  )
  assert.deepEqual(
    body.attributes.map(({ name }) => name.text),
    ['b'],
  )
})

test('control characters of a file do not reach the terminal', () => {
  const [text = ''] = rendered('a = \u001b[2J\n')
  assert.ok(!text.includes('\u001b'), JSON.stringify(text))
})

test('an unclosed block is told with the line that opened it', () => {
  assert.match(
    rendered('a {\n  b = 1\n')[0] ?? '',
    /^ergon\.hcl:3:1: Expected \} to close the block a of line 1/,
  )
})
