// A page that is left open costs nearly nothing and does not stand still. A read by a clock comes no oftener than each 10 s
// at rest. A read without a clock at rest follows the live stream, or has ended.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const AT_REST_MS_MIN = 10_000
const SOURCES = `${import.meta.dirname}/../**/*.{ts,tsx}`
const INTERVAL = /refetchInterval:\s*([^]*?)(?:,\n| \}\)\n)/g
/** Conditions that have a name; each is of a card on its way, for ten minutes at most. */
const NAMED = ['againWhileOnItsWay']

/** Reads that end, by the file and the function that they stand in. */
const ENDING = [
  'deployments/use-deployments.ts useDeployment',
  'databases/queries.tsx Queries',
  'functions/use-functions.ts useLog',
  'ledger/receipt.tsx Receipt',
  'usage/use-usage.ts usageReads',
  'workloads/use-workloads.ts useLog',
]
/** Reads that are asked again by the live changes which another read of their page follows. */
const FOLLOWED = ['webhooks/use-webhooks.ts useDeliveries']
const LIVE = /\buse(?:Live|Charges|ResourceChanges)\(/

/** True for a read that nothing has made again, once the page is at rest. A live change is followed by the read's own function. */
const standsStill = (interval: string, own: string): boolean =>
  /\bfalse\)?$/.test(interval) && !LIVE.test(own)

/** The declarations of a source that are in no other, each with its name. */
const declarations = (source: string) =>
  source.split(/\n(?=(?:export )?(?:async )?(?:const|function) )/).map((own) => ({
    own,
    name: /(?:const|function) (\w+)/.exec(own)?.[1] ?? '',
  }))

/** Milliseconds that a word stands for in a source; none are needed for `false`. */
function restMs(word: string, source: string): number {
  if (word === 'false') return Infinity
  const [, digits] = new RegExp(`const ${word} = ([\\d_]+)`).exec(source) ?? []
  return Number((digits ?? '0').replaceAll('_', ''))
}

/** The interval of a page at rest: what stands behind the last colon of a condition, or the only word. */
function atRestMs(interval: string, source: string): number {
  if (NAMED.includes(interval)) return Infinity
  return restMs(/(\w+)\)?$/.exec(interval)?.[1] ?? '', source)
}

const found = globSync(SOURCES, { exclude: ['**/*.test.ts'] }).flatMap((path) => {
  const source = readFileSync(path, 'utf8')
  return declarations(source).flatMap(({ own, name }) =>
    [...`${own}\n`.matchAll(INTERVAL)].map(([, interval = '']) => ({
      path,
      source,
      own,
      name,
      interval,
    })),
  )
})

test('refetchInterval of every page is conditional, or at least ten seconds', () => {
  assert.ok(found.length > 20, `found ${found.length}`)
  for (const { path, source, interval } of found)
    assert.ok(atRestMs(interval, source) >= AT_REST_MS_MIN, `${path}: ${interval}`)
})

test('refetchInterval of a page at rest is false only where the live stream tells of changes, or the read has ended', () => {
  const still = found.filter(({ own, interval }) => standsStill(interval, own))
  const listed = [...ENDING, ...FOLLOWED]
  const nameOf = ({ path, name }: (typeof found)[number]) =>
    `${path.split('/').slice(-2).join('/')} ${name}`
  assert.deepEqual(still.map(nameOf).toSorted(), listed.toSorted())
})

test('refetchInterval that rests for good is seen in a source without a live change', () => {
  const interval = '({ state }) => (state.data ? SHOWN_MS : false)'
  assert.equal(standsStill(interval, ''), true)
  assert.equal(standsStill(interval, 'useCharges(WORK, again)'), false)
  assert.equal(standsStill('({ state }) => (state.data ? SHOWN_MS : REST_MS)', ''), false)
})

test('a live change that another function of the same source follows is none of the read', () => {
  const live = 'export function useList() {\n  useResourceChanges(KIND, again)\n}\n'
  const read = 'export const useBackups = () =>\n  useQuery({ refetchInterval: false })\n'
  const [, , of] = declarations(`// Reads.\n${live}${read}`)
  assert.equal(of?.name, 'useBackups')
  assert.equal(standsStill('false', of.own), true)
})

test('refetchInterval of five seconds without a condition is seen', () => {
  const source = 'const SHOWN_MS = 5_000\nconst SLOW_MS = 60_000'
  assert.equal(atRestMs('SHOWN_MS', source), 5_000)
  assert.equal(atRestMs('({ state }) => (state.data ? SLOW_MS : SHOWN_MS)', source), 5_000)
  assert.equal(atRestMs('({ state }) => (state.data ? SHOWN_MS : false)', source), Infinity)
})
