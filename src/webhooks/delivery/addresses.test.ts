import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { createAddressRule } from '#egress/addresses.ts'
import { maskedUrl, readTarget } from './target.ts'

/** Addresses of machines of an operator, of the machine itself, of groups, and the forms that carry one of them. */
const NOT_PUBLIC = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.0.0.2',
  '127.255.255.254',
  '169.254.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:a00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
  'ff0e::1',
]
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
]

/** Ways to write 127.0.0.1 and other addresses of this machine in a url. */
const SPELLINGS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '0x7f.1',
  '0x7f000001',
  '0X7F000001',
  '2130706433',
  '017700000001',
  '127.0.0.1.',
  '127.000.000.001',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  'intranet',
]
const MALFORMED = [
  '',
  'example.com/path',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://example.com/',
  'https://user@example.com/',
  'https://user:pass@example.com/',
  'https://example.com/#fragment',
  'https://',
  'https://exa mple.com/',
  'https://[::1',
  'https://256.0.0.1/',
  'https://example.com:99999/',
  'https://[fe80::1%25lo]/',
]

const none = createAddressRule([])
const local = createAddressRule(['127.0.0.1', '::1'])
const code = { code: 'invalid_request' }

test('no address that is not public is permitted, in any form', () => {
  for (const address of NOT_PUBLIC) assert.equal(none.permits(address, 443), false, address)
  for (const address of PUBLIC) assert.equal(none.permits(address, 443), true, address)
  for (const text of ['', 'localhost', '127.1', '2130706433', '0x7f.1', '[::1]'])
    assert.equal(local.permits(text, 443), false, `no address: ${text}`)
})

test('an address of the machine is not permitted in any form, unless the operator names its network', () => {
  const refused = () => ['8.8.8.8', '2001:4860::8']
  const rule = createAddressRule([], { machine: refused })
  for (const address of ['8.8.8.8', '2001:4860::8', '2001:4860:0:0::0008', '2001:4860::0.0.0.8'])
    assert.equal(rule.permits(address, 443), false, address)
  assert.ok(rule.permits('8.8.8.9', 443) && rule.permits('2001:4860::9', 443))
  assert.ok(createAddressRule(['8.8.8.0/24'], { machine: refused }).permits('8.8.8.8', 443))
})

test('a webhook does not reach the public address of the machine but at ports of the service', () => {
  const machine = () => ['8.8.8.8']
  const rule = createAddressRule([], { servedPorts: [8443], machine })
  assert.throws(() => readTarget('https://8.8.8.8/', rule), code)
  assert.equal(readTarget('https://8.8.8.8:8443/', rule).port, 8443)
})

test('a network that the operator names is permitted, and nothing beside it', () => {
  assert.ok(local.permits('127.0.0.1', 443) && local.permits('::1', 443))
  for (const address of ['127.0.0.2', '127.1.0.1', '::ffff:127.0.0.1', '10.0.0.1', '::'])
    assert.equal(local.permits(address, 443), false, address)
})

test('no spelling of an address of this machine is taken, over https or http', () => {
  for (const host of SPELLINGS)
    for (const scheme of ['https', 'http'])
      assert.throws(() => readTarget(`${scheme}://${host}/x`, none), code, `${scheme} ${host}`)
  for (const url of MALFORMED) assert.throws(() => readTarget(url, none), code, url)
})

test('on a service for development the loopback address is taken, also without TLS, and no other', () => {
  for (const url of [
    'http://127.0.0.1:3000/a?b',
    'http://localhost/',
    'https://[::1]/',
    'http://127.1/',
  ])
    assert.ok(readTarget(url, local), url)
  for (const url of [
    'http://127.0.0.2/',
    'http://10.0.0.1/',
    'http://example.com/',
    'https://192.168.1.1/',
  ])
    assert.throws(() => readTarget(url, local), code, url)
  assert.deepEqual(readTarget('https://EXAMPLE.com.:8443/a?b=c', none), {
    isSecure: true,
    hostname: 'example.com',
    port: 8443,
    path: '/a?b=c',
    host: 'example.com.:8443',
  })
})

test('every IPv4 address is judged by its octets, and none inside an IPv6 address is permitted', () => {
  const octet = fc.nat(255)
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const address = `${a}.${b}.${c}.${d}`
      const isPrivate =
        a === 0 ||
        a === 10 ||
        a === 127 ||
        a >= 224 ||
        (a === 192 && b === 168) ||
        (a === 172 && b >= 16 && b < 32) ||
        (a === 169 && b === 254) ||
        (a === 100 && b >= 64 && b < 128)
      if (isPrivate) assert.equal(none.permits(address, 443), false)
      const hex = [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(':')
      for (const form of [
        `::ffff:${address}`,
        `::${address}`,
        `64:ff9b::${hex}`,
        `2002:${hex}::1`,
      ]) {
        assert.notEqual(isIP(form), 0)
        assert.equal(none.permits(form, 443), false, form)
      }
    }),
  )
})

test('maskedUrl() keeps the names of a query and none of its values, and is no url of an endpoint', () => {
  const plain = 'https://example.com/events'
  assert.equal(maskedUrl(plain), plain)
  const masked = maskedUrl(`${plain}?key=k1&n=&k2&a=b=c?d`)
  assert.equal(masked, `${plain}?key=***&n=***&=***&a=***`)
  for (const url of [masked, `${plain}?a=***&b=1`])
    assert.throws(() => readTarget(url, createAddressRule([])), /it is masked/)
})
