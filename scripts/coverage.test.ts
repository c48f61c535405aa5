// acceptance/COVERAGE.md has a row for each name and figure of the interface specification, served or not:
// a line that nobody listed is a line that nobody noticed to be missing.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { calledNotYet, namedBesideOnly, quotesOfNothing, readTests, unnamed } from './coverage.ts'

/** The names and figures of the specification, by its sections. */
const INTERFACE: Readonly<Record<string, readonly string[]>> = {
  'response headers': ['X-Energy-Joules', 'X-Carbon-mg', 'X-Routed-To', 'X-Tier', 'X-Receipt-Id'],
  'usage record': ['request_id', 'req_', 'energy_j', 'carbon_mg', 'operator', 'region'],
  inference: [
    'messages',
    'max_tokens',
    'choices',
    '/v1/completions',
    '/v1/embeddings',
    '/v1/models',
    '/v1/images/generations',
    '/v1/audio/transcriptions',
    '/v1/usage/last',
    '1536',
  ],
  authentication: [
    'svc_',
    'Bearer',
    'read, deploy, billing-admin',
    'revoked at the next request',
    'passkey',
    'SHA-256 fingerprints',
    '14 days',
  ],
  'object storage': [
    'Put, get, list version 2, delete',
    'without `/v1`',
    'select-object-content and replication',
    'zero egress charge',
    'Token as access key and secret key',
  ],
  account: ['$5', 'card processor', 'stablecoin', 'reward points', 'Top-up', '402', '429'],
  workloads: [
    'workload "<name>"',
    'image',
    'region identifier, or `auto`',
    'energy_budget',
    '<number> <unit>/day',
    'route "<hostname>"',
    'workload.<name>',
    'wl_',
    '/v1/workloads/{workload_id}/logs',
    'lines',
    'crash loop',
    '80 %',
    '100 %',
    'region outage',
    'live address',
    'joule readout',
  ],
  functions: [
    'fn deploy',
    '--route',
    '--runtime',
    '--memory',
    '--env',
    '--on',
    'bucket/<bucket>/object-created',
    'presigned_url',
    'functions_url',
    'fn logs',
  ],
  database: ['5432', 'db_host', 'ivfflat', 'hnsw', 'db create', '--region', '--size', 'db url'],
  webhooks: [
    'webhook create',
    'webhook rotate',
    'webhook test',
    'webhook log',
    'webhook pause',
    'webhook resume',
    'webhook delete',
    'whsec_',
    'version 1.0',
    'X-Svc-Event`',
    'X-Svc-Event-Id',
    'evt_',
    'X-Svc-Timestamp',
    'X-Svc-Signature',
    'several `v1=`',
    '300 seconds',
    'occurred_at',
    'exit_code',
    'last_log_url',
  ],
  events: [
    'balance.low',
    'balance.depleted',
    'workload.deployed',
    'workload.suspended',
    'workload.crashed',
    'workload.scaled',
    'energy_budget.warning',
    'energy_budget.exceeded',
    'receipt.published',
    'fleet.region_outage',
    'compliance.evidence_ready',
    'evidence pack',
  ],
  'command line': ['login', '`deploy`', 'logs <workload>', 'energy <workload>', 'receipt verify'],
  'portal, status page and mesh': [
    'portal_url',
    'status_url',
    'error rates',
    'X-Mesh-Token',
    'X-Mesh-Timestamp',
  ],
  versioning: ['Paths under `/v1`', '`/v2`', '12 months', 'Preview'],
}

/** The names that no row of a table in `page` holds. */
function missingFrom(page: string, names: readonly string[]): string[] {
  const rows = page.split('\n').filter((line) => line.startsWith('|'))
  return names.filter((name) => !rows.some((row) => row.includes(name)))
}

const page = readFileSync('acceptance/COVERAGE.md', 'utf8')

for (const [section, names] of Object.entries(INTERFACE))
  test(`the page of coverage names every line of the interface: ${section}`, () => {
    assert.deepEqual(missingFrom(page, names), [])
  })

test('a line that the page of coverage does not name is found', () => {
  const planted = page.replaceAll('compliance.evidence_ready', 'planted')
  assert.deepEqual(missingFrom(planted, INTERFACE['events'] ?? []), ['compliance.evidence_ready'])
})

test('names of the contract are called "not yet" by no row', () => {
  assert.deepEqual(calledNotYet(page), [])
  const planted = '| `webhook create --url <url>` | not yet |\n| `balance.low` | not yet |'
  assert.deepEqual(calledNotYet(planted), ['balance.low', 'webhook create'])
})

const tests = readTests('.')

test('a test names each operation, event, error code and command', () => {
  assert.deepEqual(unnamed(tests), [])
})

test('names that no test names are found', () => {
  const without = tests.map(({ path, text }) => ({
    path,
    text: text.replaceAll(/token_expired|'balance\.low'|'artifacts', 'prune'/g, ''),
  }))
  assert.deepEqual(unnamed(without), ['balance.low', 'token_expired', 'ergon artifacts prune'])
})

test('a test of a running product names each operation, each event, and each command of the service', () => {
  for (const kind of ['Operation', 'Event', 'Command'] as const)
    assert.deepEqual(namedBesideOnly(tests, kind), [])
  const planted = tests.map(({ path, text }) => ({
    path,
    text: path.startsWith('src/')
      ? text
      : text.replaceAll(/'balance\.low'|'db', 'backup', 'delete'/g, ''),
  }))
  assert.deepEqual(namedBesideOnly(planted, 'Event'), ['balance.low'])
  assert.deepEqual(namedBesideOnly(planted, 'Command'), ['ergon db backup delete <name> <backup>'])
})

// Limits of the node and failures of disks: a running product that meets them takes a machine of its own.
const CODES_BESIDE_MAX = 24

test('error codes that only tests beside the code name become no more', () => {
  const codes = namedBesideOnly(tests, 'Error code')
  assert.ok(codes.length <= CODES_BESIDE_MAX, codes.join(', '))
})

test('names of tests that the page of coverage quotes are names of tests', () => {
  assert.deepEqual(quotesOfNothing(page, tests), [])
  assert.deepEqual(
    quotesOfNothing('| a line | clients: "a planted name", "a model kn …" |', tests),
    ['a planted name'],
  )
})
