// Whatever the text is: a tree or diagnostics, ranges within the text, values or faults, and a printed tree is read as the same.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { DIAGNOSTICS_MAX, HclFault } from '#hcl/diagnostics.ts'
import { evaluate } from '#hcl/evaluate/evaluate.ts'
import { EvaluationBudget } from '#hcl/evaluate/evaluation-budget.ts'
import { HCL_FUNCTIONS } from '#hcl/functions/functions.ts'
import { SourceText } from '#hcl/source-text.ts'
import type { BodyNode } from '#hcl/syntax/nodes.ts'
import { parseFile, SOURCE_LENGTH_MAX } from '#hcl/syntax/parse-body.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import type { HclValue } from '#hcl/values/value.ts'
import { describeStack } from '#stack/describe.ts'
import { printBody } from './print.ts'
import { grammatical, mutated, noise } from './random-documents.ts'

const FOLDER = new URL('documents/', import.meta.url)
const DOCUMENTS = readdirSync(FOLDER).map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))
const RUNS = process.env['ERGON_LONG'] === '1' ? 100_000 : 800

// Shrinking such documents takes minutes; the seed that a failure prints is enough.
const CHECKS = { numRuns: RUNS, endOnFailure: true }

const read = (text: string) => parseFile(new SourceText('a.hcl', text))

/** The tree without ranges, with numbers as text, and neighbouring texts as one. */
function shape(node: unknown): unknown {
  if (node instanceof Numeric) return node.toString()
  if (Array.isArray(node)) return node.map(shape).reduce<unknown[]>(joinTexts, [])
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, part]) => (key === 'range' ? [] : [[key, shape(part)]])),
  )
}

type Shape = { kind?: string; text?: string }
function joinTexts(parts: unknown[], part: unknown): unknown[] {
  const [last, next] = [parts.at(-1) as Shape | undefined, part as Shape | null]
  if (last?.kind !== 'text' || next?.kind !== 'text') return [...parts, part]
  return [...parts.slice(0, -1), { kind: 'text', text: `${last.text}${next.text}` }]
}

function assertRoundTrip(text: string): void {
  const { body, diagnostics } = read(text)
  if (diagnostics.length > 0) return
  const printed = printBody(body)
  const again = read(printed)
  assert.deepEqual(again.diagnostics, [], printed)
  // The difference of two large trees takes minutes to print.
  assert.ok(isDeepStrictEqual(shape(again.body), shape(body)), printed)
}

/** Every node lies within the text and within its parent. */
function assertRanges(node: unknown, start: number, end: number): void {
  if (node === null || typeof node !== 'object' || node instanceof Numeric) return
  const own = 'range' in node ? (node.range as { start: number; end: number }) : { start, end }
  if (own.start < start || own.end > end || own.start > own.end)
    assert.fail(`${JSON.stringify(own)} is not within ${start} to ${end}`)
  for (const part of Object.values(node)) if (part !== own) assertRanges(part, own.start, own.end)
}

function* expressionsOf({ attributes, blocks }: BodyNode): Generator<BodyNode['attributes'][0]> {
  yield* attributes
  for (const { body } of blocks) yield* expressionsOf(body)
}

function assertEvaluates(text: string): void {
  const budget = new EvaluationBudget()
  const names = new Map<string, HclValue>([['var', new Map([['a', 'x']])]])
  for (const { value } of expressionsOf(read(text).body))
    try {
      evaluate(value, { names, functions: HCL_FUNCTIONS, budget })
    } catch (error) {
      if (!(error instanceof HclFault)) throw error
    }
}

const anything = fc.oneof(grammatical, mutated(DOCUMENTS), noise)

test('documents of the grammar are read without a diagnostic', () => {
  fc.assert(
    fc.property(grammatical, (text) => assert.deepEqual(read(text).diagnostics, [], text)),
    CHECKS,
  )
})

test('a printed tree is read as the same tree', () => {
  for (const text of DOCUMENTS) assertRoundTrip(text)
  fc.assert(fc.property(anything, assertRoundTrip), CHECKS)
})

test('ranges of nodes and diagnostics lie within the text', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const { body, diagnostics } = read(text)
      assertRanges(body, 0, text.length)
      for (const { range } of diagnostics)
        assert.ok(range.start >= 0 && range.start <= range.end && range.end <= text.length + 1)
    }),
    CHECKS,
  )
})

test('evaluation of any document ends in values or faults, nothing else', () => {
  fc.assert(fc.property(anything, assertEvaluates), CHECKS)
})

test('whatever a description says, it is a stack or has diagnostics within the text', () => {
  const stacks = DOCUMENTS.filter((text) => /^(workload|variable) /m.test(text))
  assert.ok(stacks.length >= 2)
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...stacks), mutated(stacks), anything), (text) => {
      const { stack, diagnostics } = describeStack({ source: new SourceText('a.hcl', text) })
      const places = new Map(stack.resources.map(({ address }, index) => [address, index]))
      for (const { range } of diagnostics) assert.ok(range.end <= text.length + 1)
      if (diagnostics.length > 0) return
      for (const [index, { needs }] of stack.resources.entries())
        for (const need of needs) assert.ok((places.get(need) ?? Infinity) < index, need)
    }),
    CHECKS,
  )
})

test('the harness sees a lost part and a range outside of its parent', () => {
  const { body } = read('a = [1, 2]\n')
  const lost = { ...body, attributes: [] }
  assert.notDeepEqual(shape(read(printBody(lost)).body), shape(body))
  assert.throws(() =>
    assertRanges({ range: { start: 0, end: 5 }, inner: { range: { start: 4, end: 6 } } }, 0, 9),
  )
})

const PIECES = [
  '(',
  '[',
  '{',
  'a{\n',
  '!',
  '-',
  '"${',
  '%{if x}',
  'a[*]',
  '.a',
  '[0]',
  '+1',
  '?1:',
  'f(',
  '[for x in ',
  '<<E\n',
  '/*',
  '\\',
  '$',
  '\n',
  '"',
  'a=1\n',
  '1',
  'x',
  '~',
]

test('a long file is no danger, however it nests or repeats', () => {
  const repeat = (piece: string, length: number) => piece.repeat(Math.floor(length / piece.length))
  for (const piece of PIECES)
    for (const before of ['', 'a = ', 'a = b', 'a = "']) {
      const text = before + repeat(piece, 20_000)
      assertEvaluates(text)
      assert.ok(read(text).diagnostics.length <= DIAGNOSTICS_MAX)
    }
  assertEvaluates(`a = 1${repeat('+1', SOURCE_LENGTH_MAX - 10)}`)
  assert.match(
    read(repeat('(', SOURCE_LENGTH_MAX)).diagnostics[0]?.message ?? '',
    /Expected at most 50000 names/,
  )
  const tooLong = read(repeat(' ', SOURCE_LENGTH_MAX + 1))
  assert.match(tooLong.diagnostics[0]?.message ?? '', /at most 262144/)
})
