// Each program that bills accounts says so in its cell and on its page. A program that does not would have its CPU, which is
// billed, taken for CPU that requests of others cause. The sources are read, as only a long run shows a missing page.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

/** The accounting itself: the files that call it are looked for. */
const OWN = /^src\/node\/(background-)?accounting\.ts$/
const sources = new Map(
  globSync('src/**/*.ts')
    .filter((path) => !/\.(test|fixture)\.ts$|\/testing/.test(path) && !OWN.test(path))
    .map((path) => [path, readFileSync(path, 'utf8')]),
)

/** The file and all that it imports, types apart. */
function closureOf(path: string, seen = new Set<string>()): ReadonlySet<string> {
  const text = sources.get(path)
  if (text === undefined || seen.has(path)) return seen
  seen.add(path)
  const values = text.replaceAll(/^import type [^']*'[^']*'/gm, '')
  for (const [, target = ''] of values.matchAll(/(?:from|import\()\s*'([#.][^']+)'/g))
    closureOf(
      target.startsWith('#') ? `src/${target.slice(1)}` : normalize(join(dirname(path), target)),
      seen,
    )
  return seen
}

const programs = new Map(
  [...sources.values()].flatMap((text) =>
    [...text.matchAll(/const (\w+): Program = \{\s*file: '([^']+)'/g)].map(
      ([, name = '', file = '']) => [name, `src/${file}`] as const,
    ),
  ),
)
const cells = [...sources.values()].flatMap((text) =>
  text
    .split('programCell(')
    .slice(1)
    .map((call) => ({ name: /^\w+/.exec(call)?.[0] ?? '', bills: call.includes('bills: true') })),
)

test('a program that opens an accounting says what it bills, and its cell says that it bills', () => {
  const found = cells.flatMap(({ name, bills }) => {
    const path = programs.get(name)
    if (path === undefined) return []
    const texts = [...closureOf(path)].map((file) => sources.get(file) ?? '')
    const opens = texts.some((text) => /\bopen(Background)?Accounting\(/.test(text))
    const page = texts.some((text) => text.includes('[BILLED_PAGE]:'))
    return [{ path, opens, bills, page }]
  })
  // A count that finds too little is a fault of this test.
  assert.ok(found.filter(({ opens }) => opens).length >= 5, JSON.stringify(found))
  assert.deepEqual(
    found.filter(({ opens, bills, page }) => bills !== opens || page !== opens),
    [],
  )
})
