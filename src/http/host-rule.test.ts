import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProtocolHandler } from './protocol-handler.ts'
import type { Exchange } from './exchange.ts'
import { createHostRule } from './host-rule.ts'

/** Protocols that only have a name: the rule gives one of them for each request. */
const named = (name: string): ProtocolHandler =>
  ({ match: () => assert.fail(name) }) as unknown as ProtocolHandler
const [api, website, buckets, metrics, storage] = [
  'api',
  'website',
  'buckets',
  'metrics',
  's3',
].map(named) as [
  ProtocolHandler,
  ProtocolHandler,
  ProtocolHandler,
  ProtocolHandler,
  ProtocolHandler,
]
const NAMES = new Map([
  [api, 'api'],
  [website, 'website'],
  [buckets, 'buckets'],
  [metrics, 'metrics'],
])

const choose = createHostRule({
  api,
  protocols: [
    { handler: website, below: ['sites.example.com'], ownsHealthPages: true },
    { handler: buckets, below: ['example.com', 's3.example.org'] },
    { handler: metrics, segments: ['measure'] },
    { handler: storage, rest: true },
  ],
  hosts: ['example.com', '127.0.0.1'],
  baseUrl: undefined,
})

function chosen(host: string, path: string, headers: Record<string, string> = {}): string {
  const all: Record<string, string> = { host, ...headers }
  const exchange = {
    request: { headers: all },
    method: 'GET',
    path,
    query: '',
    header: (name: string) => all[name],
  } as unknown as Exchange
  try {
    return NAMES.get(choose(exchange)) ?? 'rest'
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
}

test('the rule gives each request to the protocol of its host, then of its first segment', () => {
  const rows: [host: string, path: string, protocol: string][] = [
    ['example.com', '/v1/models', 'api'],
    ['EXAMPLE.com:8080', '/portal', 'api'],
    ['example.com', '/measure/x', 'metrics'],
    ['example.com', '/measures', 'rest'],
    ['example.com', '/photos/cat', 'rest'],
    ['photos.example.com', '/v1/models', 'buckets'],
    ['a.b.s3.example.org', '/x', 'buckets'],
    // Below two bases: the first protocol with health pages of its own wins.
    ['blog.sites.example.com', '/healthz', 'website'],
    ['blog.sites.example.com', '/', 'website'],
    ['photos.example.com', '/healthz', 'api'],
    // Load balancers ask by any name.
    ['10.0.0.7', '/readyz', 'api'],
    ['10.0.0.7', '/v1/models', 'host_unknown'],
    // A base itself is no name below it, and a suffix without a dot is another name.
    ['s3.example.org', '/x', 'host_unknown'],
    ['.s3.example.org', '/x', 'host_unknown'],
    ['evils3.example.org', '/x', 'host_unknown'],
    ['notexample.com', '/v1/models', 'host_unknown'],
  ]
  for (const [host, path, protocol] of rows)
    assert.equal(chosen(host, path), protocol, `${host}${path}`)
})
