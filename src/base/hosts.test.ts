import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostOfUrl, isLocalName, isLoopback, LOOPBACK_HOSTS } from './hosts.ts'

test('localhost, the names below it and addresses of the loopback interface are this machine, look-alikes are not', () => {
  for (const host of ['localhost', 'portal.localhost', '127.0.0.1', '127.8.9.10', '::1'])
    assert.ok(isLoopback(host), host)
  for (const host of [
    'localhost.example',
    'mylocalhost',
    '.localhost',
    '127.0.0.1.example',
    '128.0.0.1',
    '::2',
    '',
  ])
    assert.ok(!isLoopback(host), host)
  assert.ok(!isLocalName('127.0.0.1'))
})

test('the host of a url has no brackets, so an IPv6 address is one', () => {
  assert.equal(hostOfUrl(new URL('https://[::1]:8080/')), '::1')
  for (const host of LOOPBACK_HOSTS)
    assert.ok(isLoopback(hostOfUrl(new URL(`http://${host}/`))), host)
})
