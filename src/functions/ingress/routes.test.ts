import assert from 'node:assert/strict'
import { test } from 'node:test'
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
    ].map(([account = '', route = '']) => ({
      id: `${account}${route}`,
      account: `acct_${account}`,
      name: 'n',
      route,
      timeoutS: 1,
    })),
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
