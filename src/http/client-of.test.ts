import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientOf } from './client-of.ts'

const ask = (
  trusted: readonly string[],
  remoteAddress: string | undefined,
  headers: Record<string, string> = {},
  encrypted = false,
) => {
  const socket = { remoteAddress, encrypted }
  return createClientOf(trusted)({ socket, headers } as never)
}
const SAID = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }

test('nobody is believed who is not trusted', () => {
  for (const trusted of [[], ['10.0.0.0/8'], ['127.0.0.2']])
    assert.deepEqual(ask(trusted, '127.0.0.1', SAID), { address: '127.0.0.1', isSecure: false })
  assert.deepEqual(ask([], '::ffff:192.0.2.1'), { address: '192.0.2.1', isSecure: false })
  assert.deepEqual(ask(['127.0.0.1'], undefined, SAID), { address: '', isSecure: false })
  assert.equal(ask([], '192.0.2.1', {}, true).isSecure, true)
})

test('a trusted proxy says who asked it, and how', () => {
  const client = { address: '203.0.113.9', isSecure: true }
  for (const [trusted, remote] of [
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.0/8', '::ffff:127.0.0.3'],
    ['::1', '::1'],
    ['fd00::/8', 'fd12::7'],
  ] as const)
    assert.deepEqual(ask([trusted], remote, SAID), client)
  for (const said of ['203.0.113.9:4711', ' 203.0.113.9 ', '::ffff:203.0.113.9'])
    assert.equal(ask(['::1'], '::1', { 'x-forwarded-for': said }).address, client.address)
  assert.equal(
    ask(['::1'], '::1', { 'x-forwarded-for': '[2001:db8::1]:443' }).address,
    '2001:db8::1',
  )
})

test('addresses that a caller wrote before its proxy did are not believed', () => {
  const chain = (text: string) =>
    ask(['10.0.0.0/8'], '10.0.0.1', { 'x-forwarded-for': text }).address
  assert.equal(chain('127.0.0.1, 203.0.113.9'), '203.0.113.9')
  assert.equal(chain('127.0.0.1, 203.0.113.9, 10.0.0.2'), '203.0.113.9')
  assert.equal(chain('10.0.0.9'), '10.0.0.9')
  assert.equal(chain('127.0.0.1, nobody'), '')
  const protocol = (text: string) =>
    ask(['10.0.0.0/8'], '10.0.0.1', { 'x-forwarded-proto': text }).isSecure
  assert.equal(protocol('https, http'), false)
  assert.equal(protocol('http, https'), true)
})

test('a word that is neither an address nor a network is refused', () => {
  for (const wrong of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '::1/129',
    '1.2.3.4/',
  ])
    assert.throws(() => createClientOf([wrong]), wrong)
})
