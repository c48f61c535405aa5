import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import {
  hostOfUrl,
  isLocalName,
  isLoopback,
  isThisMachine,
  LOOPBACK_HOSTS,
  machineAddresses,
} from './hosts.ts'

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

test('machineAddresses() has the addresses of all interfaces', () => {
  const lists = Object.values(networkInterfaces())
  assert.ok(machineAddresses().includes('127.0.0.1'))
  assert.equal(machineAddresses().length, lists.flat().length)
})

test('isThisMachine() knows the addresses of the interfaces from those of other machines', () => {
  for (const host of [...machineAddresses(), 'portal.localhost'])
    assert.ok(isThisMachine(host), host)
  for (const host of ['192.0.2.7', '2001:db8::7', 'cloud.example'])
    assert.ok(!isThisMachine(host), host)
})
