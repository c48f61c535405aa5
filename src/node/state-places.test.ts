// The places of the state's server are enough for each pool and listener that the programs may open. They are counted in
// the sources: a pool is full only on a slow machine, so a running product does not show a missing place.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PLACES } from './state-cell.ts'

const OWN_TEST = /\.(test|fixture)\.ts$|\/testing/
/** The files that talk to the PostgreSQL of an account. */
const OF_DATABASES = /^src\/databases\/(server|backups|query)\//
const GATEWAY =
  /^src\/(processes\/gateway-core|[a-z0-9]+\/gateway|inference\/models\/follow-models)\.ts$/
const PROXY = /^src\/databases\/programs\/pg-proxy\.ts$/
const PROGRAM_ACCOUNTING = 'src/node/background-accounting.ts'

const sources = new Map(
  globSync('src/**/*.ts')
    .filter((path) => !OWN_TEST.test(path) && !OF_DATABASES.test(path))
    .map((path) => [path, readFileSync(path, 'utf8')]),
)
const count = (text: string, what: RegExp) => [...text.matchAll(what)].length
const calls = (name: string) => new RegExp(`(?<!function )\\b${name}\\(`, 'g')

/** The connections of the pools that a file opens. */
function poolsOf(text: string): number {
  if (count(text, /\b(connectState|connectPipeline|openPool|core\.connect|pools)\b/g) === 0)
    return 0
  const sizes = text.matchAll(/^(?:const \w*CONNECTIONS =|.*\bconnections:) (\d+)\b/gm)
  return [...sizes].reduce((sum, [, size]) => sum + Number(size), 0)
}

const ACCOUNTING = sources.get(PROGRAM_ACCOUNTING) ?? ''

/** All that a file opens itself, or by a function that opens a pool or a listener for its caller. */
const opens = (path: string, text: string): number =>
  (path === PROGRAM_ACCOUNTING ? 0 : poolsOf(text)) +
  count(text, /\.listen\('ergon_/g) * (/\/(accounting|reconciler)\.ts$/.test(path) ? 0 : 1) +
  count(text, calls('startAtFirst')) +
  count(text, calls('reconcile')) * (/agent\.ts$|reconcile-/.test(path) ? 1 : 0) +
  count(text, calls('openAccounting')) * (path === PROGRAM_ACCOUNTING ? 0 : 1) +
  count(text, calls('openBackgroundAccounting')) * (poolsOf(ACCOUNTING) + 1)

const sum = (isOf: (path: string) => boolean) =>
  [...sources].reduce((all, [path, text]) => all + (isOf(path) ? opens(path, text) : 0), 0)

test('a gateway and a proxy of databases have a place for each of their connections to the state', () => {
  const gateway = sum((path) => GATEWAY.test(path))
  assert.ok(gateway > 20 && gateway <= PLACES.gateway, `${gateway} of ${PLACES.gateway}`)
  const proxy = sum((path) => PROXY.test(path))
  assert.ok(proxy > 4 && proxy <= PLACES.proxy, `${proxy} of ${PLACES.proxy}`)
})

test('all other processes have a place for each of their connections to the state', () => {
  const others = sum((path) => !GATEWAY.test(path) && !PROXY.test(path))
  // As in the test before: a count that finds too little is a fault of this test.
  assert.ok(others > 60 && others <= PLACES.others, `${others} of ${PLACES.others}`)
})
