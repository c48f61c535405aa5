// The reference pages say what the source says; each way of drifting apart is planted once.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { DESCRIPTIONS } from '#contract/descriptions.ts'
import { ERRORS } from '#contract/errors.ts'
import { LIMIT_HEADERS, REPLAY_HEADERS, RESPONSE_HEADERS } from '#contract/headers.ts'
import { OPERATOR_ERRORS } from '#contract/operator/operator-errors.ts'
import { ROUTES } from '#contract/routes.ts'
import { isProductSource, unusedCodes } from './error-codes.ts'
import { drift, pages, readText } from './generate.ts'
import { contractOf, openapi } from './openapi.ts'
import { UNNAMED, WHEN } from './openapi-refusals.ts'

const read = (path: string) => readText(path) ?? ''
const made = pages(read)
const contract = contractOf('0.0.0')
type Document = {
  paths: Record<string, Record<string, { operationId: string; responses: object }>>
  components: { headers: object; responses: Record<string, object> }
}
const document = openapi(contract) as Document
const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(isProductSource)
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

test('every generated page on disk is the one that would be printed', () => {
  assert.deepEqual(drift(made, readText), [], 'run npm run generate')
})

test('drift() names a page that was changed by hand and one that is missing', () => {
  const touched = (path: string) => (path.endsWith('errors.md') ? `${read(path)} ` : readText(path))
  assert.deepEqual(drift(made, touched), ['docs/reference/errors.md'])
  assert.equal(drift(made, () => undefined).length, made.size)
})

test('openapi() has each route once, under the name of its operation', () => {
  const printed = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  assert.deepEqual(printed.toSorted(), ROUTES.map(({ operation }) => operation).toSorted())
})

test('openapi() refuses a route whose operation is not described', () => {
  const { 'usage.get': _, ...descriptions } = contract.descriptions
  assert.throws(() => openapi({ ...contract, descriptions }), {
    name: 'RangeError',
    message: 'No description of the operation: usage.get',
  })
})

test('every JSON and event-stream reply of openapi() has a schema', () => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const { responses } of Object.values(methods))
      for (const [status, response] of Object.entries(responses) as [string, Response][])
        for (const [type, media] of Object.entries(response.content ?? {}))
          if (/json|event-stream/.test(type))
            assert.ok(media.schema, `${path} ${status} ${type} has no schema`)
})
type Response = { content?: Record<string, { schema?: object }> }

/** Codes that no operation can be documented with. */
const unplaced = (codes: readonly string[]): string[] => {
  const named = Object.values(DESCRIPTIONS).flatMap(({ refusals = [] }) => refusals as string[])
  const known = new Set([...Object.keys(WHEN), ...UNNAMED, ...named])
  return codes.filter((code) => !known.has(code))
}

test('every code follows from facts, is named by an operation, or belongs to no operation', () => {
  assert.deepEqual(unplaced(Object.keys(ERRORS)), [])
  assert.deepEqual(unplaced(['moon_away', 'internal']), ['moon_away'])
})

test('every $ref of openapi() points at something', () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
  assert.ok(refs.length > 0)
  for (const [, pointer = ''] of refs) {
    const found = pointer
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
    assert.ok(found, `nothing at ${pointer}`)
  }
})

test('openapi() says every header of the table', () => {
  const known = { ...RESPONSE_HEADERS, ...LIMIT_HEADERS, ...REPLAY_HEADERS }
  assert.deepEqual(Object.keys(document.components.headers), Object.keys(known))
})

test('errors.md has a row for every code, and none for a code that is gone', () => {
  const page = made.get('docs/reference/errors.md') ?? ''
  const rows = [...page.matchAll(/^\| (?:\d+ \| )?`([a-z_]+)`/gm)].map(([, code]) => code)
  const known = [...Object.keys(ERRORS), ...Object.keys(OPERATOR_ERRORS)]
  assert.deepEqual(rows.toSorted(), known.toSorted())
})

test('limits.md has every bound on a list that a request may hold', () => {
  const page = made.get('docs/reference/limits.md') ?? ''
  const bodies = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((one) => JSON.stringify((one as { requestBody?: object }).requestBody)),
  )
  const bounds = new Set([...bodies.join().matchAll(/"maxItems":(\d+)/g)].map(([, most]) => most))
  assert.ok(bounds.size >= 5)
  for (const most of bounds)
    assert.ok(
      page.includes(` | ${Number(most).toLocaleString('en-US')} | 400 `),
      `no row of ${most}`,
    )
})

test('every code can be answered with, and a code that cannot is named', () => {
  assert.deepEqual(unusedCodes(sources), [])
  const without = sources.filter(({ path }) => path !== 'src/http/host-rule.ts')
  assert.deepEqual(unusedCodes(without), ['host_unknown'])
})

test('cli.md has every command with every option', () => {
  const page = made.get('docs/reference/cli.md') ?? ''
  for (const { usage, options = [] } of COMMANDS) {
    assert.ok(page.includes(`## ergon ${usage}\n`), usage)
    for (const [flags] of options) {
      const cell = `| \`${flags.replaceAll('|', '\\|')}\``
      assert.ok(page.includes(cell), `${usage} ${flags}`)
    }
  }
})
