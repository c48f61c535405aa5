import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testRoute } from './route.fixture.ts'
import { RouteTable } from './routes.ts'

const ADDRESS = {
  host: 'functions.localhost',
  origin: 'http://localhost:8082',
  named: 'http://*.functions.localhost:8082',
}
const table = (address: ConstructorParameters<typeof RouteTable>[0] = ADDRESS) => {
  const made = new RouteTable(address)
  made.put(
    [
      ['a', '/'],
      ['a', '/hello'],
      ['a', '/hello/deep'],
      ['b', '/hello'],
    ].map(([account = '', path = '']) =>
      testRoute({ id: `${account}${path}`, account: `acct_${account}`, path }),
    ),
  )
  return made
}
const idOf = (host: string, url: string, of = table()) => of.find(host, url)?.route.id

test('the longest route at or above the path has the request', () => {
  const paths = ['/hello', '/hello/', '/hello?x=/hello/deep', '/hello/deep/er', '/helloween', '/']
  assert.deepEqual(
    paths.map((path) => idOf('acct-a.functions.localhost:8082', path)),
    ['a/hello', 'a/hello', 'a/hello', 'a/hello/deep', 'a/', 'a/'],
  )
})

test('the account is in the name of the host, or on loopback in the path', () => {
  assert.equal(idOf('ACCT-B.functions.localhost', '/hello'), 'b/hello')
  assert.equal(idOf('localhost:8082', '/~acct_b/hello'), 'b/hello')
  assert.deepEqual(table().find('localhost', '/~acct_a?x=1'), {
    route: table().find('acct-a.functions.localhost', '/')?.route,
    path: '/?x=1',
    url: 'http://localhost/?x=1',
    prefix: '/~acct_a',
  })
  const named = { host: 'f.example', origin: undefined, named: 'https://*.f.example' }
  assert.equal(idOf('acct-b.f.example', '/hello', table(named)), 'b/hello')
  assert.equal(idOf('f.example', '/~acct_b/hello', table(named)), undefined)
})

test('nothing is found for strangers', () => {
  const strangers = [
    ['acct-b.functions.localhost', '/other'],
    ['acct-c.functions.localhost', '/hello'],
    ['localhost', '/hello'],
    ['localhost', '/~acct_c/hello'],
    ['rebound.example', '/~acct_b/hello'],
    ['x.acct-b.functions.localhost', '/hello'],
    ['', ''],
  ] as const
  for (const [host, url] of strangers) assert.equal(idOf(host, url), undefined, `${host}${url}`)
})

test('a whole name has routes of its own, also where accounts have no addresses', () => {
  for (const address of [ADDRESS, undefined]) {
    const made = new RouteTable(address)
    made.put([
      testRoute({ id: 'api', host: 'api.example.com' }),
      testRoute({ id: 'v2', host: 'api.example.com', path: '/v2' }),
    ])
    const found = ['/v1', '/v2/x', '/v20'].map((url) => idOf('API.example.com:8082', url, made))
    assert.deepEqual(found, ['api', 'v2', 'api'])
    for (const host of ['example.com', 'x.api.example.com', 'localhost', ''])
      assert.equal(idOf(host, '/', made), undefined, host)
    assert.equal(idOf('localhost', '/~acct_a/', made), undefined)
  }
})
