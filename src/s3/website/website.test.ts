import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import {
  checkRedirectLocation,
  folderKey,
  folderRedirect,
  objectRedirect,
  routeOfError,
  routeOfPath,
} from './website-route.ts'
import { parseWebsite, printWebsite, type RoutingRule, type Website } from './website.ts'

const ORIGIN = { protocol: 'https', host: 'photos.example.com' } as const
const refused = (code: string) => (error: ErgonError) => error.code === code && error.status === 400
const pages = (...rules: RoutingRule[]): Website => ({
  kind: 'pages',
  index: 'index.html',
  errorKey: 'error.html',
  rules,
})

test('a website survives XML', () => {
  const name = fc.stringMatching(/^[a-z&<]{1,10}$/)
  const host = fc.constantFrom('example.com', 'localhost:8080')
  const protocol = fc.constantFrom('http' as const, 'https' as const)
  const plain = { noNullPrototype: true, requiredKeys: [] }
  const redirect = fc
    .record({ host, protocol, replaceKey: name, status: fc.constantFrom(301, 302, 308) }, plain)
    .filter((one) => Object.keys(one).length > 0)
  const rule = fc.record(
    { prefix: name, errorStatus: fc.constantFrom(403, 404), redirect },
    { noNullPrototype: true, requiredKeys: ['redirect'] },
  )
  const website = fc.oneof(
    fc.record(
      { kind: fc.constant('redirect' as const), host, protocol },
      { noNullPrototype: true, requiredKeys: ['kind', 'host'] },
    ),
    fc.record(
      {
        kind: fc.constant('pages' as const),
        index: name,
        errorKey: name,
        rules: fc.array(rule, { maxLength: 4 }),
      },
      { noNullPrototype: true, requiredKeys: ['kind', 'index', 'rules'] },
    ),
  )
  fc.assert(
    fc.property(website, (one) => {
      assert.deepEqual(parseWebsite(Buffer.from(printWebsite(one))), one)
    }),
  )
})

test('parseWebsite() refuses what would send nobody anywhere', () => {
  const good = printWebsite(
    pages({ prefix: 'a', redirect: { replacePrefix: 'b', host: 'example.com', status: 302 } }),
  )
  const rows: [from: string, to: string, code: string][] = [
    ['<IndexDocument><Suffix>index.html</Suffix></IndexDocument>', '', 'InvalidArgument'],
    ['index.html', 'a/index.html', 'InvalidArgument'],
    ['index.html', '', 'InvalidArgument'],
    ['error.html', '', 'InvalidArgument'],
    ['example.com', 'example.com/x', 'InvalidArgument'],
    ['>302<', '>300<', 'InvalidRequest'],
    ['<KeyPrefixEquals>a</KeyPrefixEquals>', '', 'MalformedXML'],
    ['</ReplaceKeyPrefixWith>', '</ReplaceKeyPrefixWith><ReplaceKeyWith/>', 'InvalidRequest'],
    [
      '<IndexDocument>',
      '<RedirectAllRequestsTo><HostName>x</HostName></RedirectAllRequestsTo><IndexDocument>',
      'InvalidArgument',
    ],
  ]
  for (const [from, to, code] of rows) {
    assert.ok(good.includes(from), from)
    assert.throws(() => parseWebsite(Buffer.from(good.replace(from, to))), refused(code), to)
  }
  const many = pages(...Array.from({ length: 51 }, () => ({ redirect: { replaceKey: 'x' } })))
  assert.throws(() => parseWebsite(Buffer.from(printWebsite(many))), refused('InvalidRequest'))
})

test('routeOfPath() finds pages, indexes of folders and redirects', () => {
  const website = pages(
    { prefix: 'old/', redirect: { replacePrefix: 'new/', status: 302 } },
    { prefix: 'gone/', redirect: { replaceKey: 'sorry.html', protocol: 'http' } },
    { prefix: 'away/', redirect: { host: 'example.org' } },
    { prefix: '', errorStatus: 404, redirect: { replaceKey: 'x' } },
  )
  const route = (path: string, site = website) => routeOfPath(site, path, ORIGIN)
  assert.deepEqual(route(''), { kind: 'key', key: 'index.html' })
  assert.deepEqual(route('a/'), { kind: 'key', key: 'a/index.html' })
  assert.deepEqual(route('a/b.html'), { kind: 'key', key: 'a/b.html' })
  const rows: [path: string, status: number, location: string][] = [
    ['old/a b', 302, 'https://photos.example.com/new/a%20b'],
    ['gone/x', 301, 'http://photos.example.com/sorry.html'],
    ['away/\r\nx: y', 301, 'https://example.org/away/%0D%0Ax%3A%20y'],
  ]
  for (const [path, status, location] of rows)
    assert.deepEqual(route(path), { kind: 'redirect', status, location })
  assert.deepEqual(route('a', { kind: 'redirect', host: 'example.org' }), {
    kind: 'redirect',
    status: 301,
    location: 'https://example.org/a',
  })
})

test('routeOfError() tries rules for the status, then the page for errors', () => {
  const website = pages({ prefix: 'a', errorStatus: 404, redirect: { replaceKey: 'b' } })
  const route = (path: string, status: number, site = website) =>
    routeOfError(site, path, status, ORIGIN)
  assert.deepEqual(route('a1', 404), {
    kind: 'redirect',
    status: 301,
    location: 'https://photos.example.com/b',
  })
  assert.deepEqual(route('a1', 403), { kind: 'key', key: 'error.html' })
  assert.deepEqual(route('c', 404), { kind: 'key', key: 'error.html' })
  assert.equal(route('c', 404, { kind: 'pages', index: 'i', rules: [] }), undefined)
  assert.equal(route('c', 404, { kind: 'redirect', host: 'h' }), undefined)
})

test('folders without their slash are looked for and redirected to, within the host', () => {
  assert.equal(folderKey(pages(), 'a'), 'a/index.html')
  assert.equal(folderKey(pages(), 'a/'), undefined)
  assert.equal(folderKey(pages(), ''), undefined)
  assert.equal(
    folderRedirect('/evil.example', ORIGIN).location,
    'https://photos.example.com//evil.example/',
  )
  assert.equal(objectRedirect('/x').location, '/x')
})

test('redirects of objects are paths or addresses', () => {
  for (const location of ['/a', 'http://example.com/', 'https://example.com/a?b'])
    checkRedirectLocation(location)
  for (const location of ['a', 'javascript:x', 'ftp://h/', 'http://', `/${'a'.repeat(2048)}`])
    assert.throws(() => checkRedirectLocation(location), refused('InvalidRedirectLocation'))
})
