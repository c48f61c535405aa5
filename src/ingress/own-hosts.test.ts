import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { isOwnHost } from '#resources/hosts.ts'
import { ownHosts } from './own-hosts.ts'

const data = { port: 8080 } as Parameters<typeof ownHosts>[0]['data']
const isOwn = (values: object, host: string) =>
  isOwnHost(host, ownHosts({ config: readSettings(values, []), data }))

test('no route takes a name of the installation, or one below such a name', () => {
  const here = [
    'localhost',
    'portal.localhost',
    'status.localhost',
    'functions.localhost',
    'db.localhost',
  ]
  for (const host of [
    ...here,
    'acct-a.functions.localhost',
    'shop.website.localhost',
    'x.portal.localhost',
  ])
    assert.ok(isOwn({}, host), host)
  for (const host of ['api.acme.localhost', 'example.com', 'myportal.localhost'])
    assert.ok(!isOwn({}, host), host)
  const named = {
    baseUrl: 'https://api.ergon.example',
    portalUrl: 'https://portal.ergon.example',
    functionsUrl: 'https://fn.ergon.example',
    statusUrl: 'https://status.ergon.example',
    dbHost: 'db.ergon.example',
    storageWebsiteHost: 'sites.ergon.example',
  }
  for (const name of ['api', 'bucket.api', 'portal', 'acct-a.fn', 'status', 'db', 'shop.sites'])
    assert.ok(isOwn(named, `${name}.ergon.example`), name)
  assert.ok(!isOwn(named, 'shop.ergon.example'))
})

test('no route takes an address of the node, in any form', () => {
  for (const host of [
    '127.0.0.1',
    '[::1]',
    '10.1.2.3',
    '127.1',
    '2130706433',
    '0x7f.1',
    'a.0x7f',
    '1.2.3.4.',
  ])
    assert.ok(isOwn({}, host), host)
  for (const host of ['1.example.com', 'a1.b2', '4u.example', '0x.example'])
    assert.ok(!isOwn({}, host), host)
})
