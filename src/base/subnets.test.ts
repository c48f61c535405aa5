import assert from 'node:assert/strict'
import { BlockList, isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { bareAddress, blockOf, parseSubnet } from './subnets.ts'

const byte = fc.constantFrom(0, 1, 127, 128, 255)
const word = fc.constantFrom(0, 1, 0x7fff, 0x8000, 0xffff)
const full = (words: readonly number[]) => words.map((one) => one.toString(16)).join(':')
/** As RFC 5952 has it. */
const short = (words: readonly number[]) => new URL(`http://[${full(words)}]`).hostname.slice(1, -1)
const mixed = (words: readonly number[]) => {
  const [a = 0, b = 0] = words.slice(6)
  return `${full(words.slice(0, 6))}:${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`
}
const address4 = fc.array(byte, { minLength: 4, maxLength: 4 }).map((bytes) => bytes.join('.'))
const address6 = fc
  .tuple(
    fc.array(word, { minLength: 8, maxLength: 8 }),
    fc.constantFrom(full, short, mixed),
    fc.constantFrom('', '%eth0'),
  )
  .map(([words, spell, zone]) => spell(words) + zone)

test('includes() agrees with what Node says of a network', () => {
  const rows = [
    [address4, 'ipv4', 32],
    [address6, 'ipv6', 128],
  ] as const
  for (const [address, type, widest] of rows) {
    const asked = fc.tuple(address, address, fc.nat(widest))
    fc.assert(
      fc.property(asked, ([network, one, bits]) => {
        const list = new BlockList()
        // BlockList refuses some addresses with a zone. The zone is no part of the network.
        const [bare, bareOne] = [network, one].map((text) => text.replace('%eth0', ''))
        list.addSubnet(String(bare), bits, type)
        const subnet = parseSubnet(`${network}/${bits}`)
        assert.equal(subnet?.includes(one), list.check(String(bareOne), type))
        assert.equal(subnet.includes(network), true)
      }),
      { numRuns: 2000 },
    )
  }
})

test('parseSubnet() reads networks and addresses alone, and nothing else', () => {
  const rows: [text: string, inside: string | undefined, outside: string | undefined][] = [
    ['203.0.113.0/24', '203.0.113.255', '203.0.114.0'],
    ['203.0.113.7', '203.0.113.7', '203.0.113.6'],
    ['0.0.0.0/0', '255.255.255.255', '::1'],
    ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::'],
    ['::/0', 'ffff::', '10.0.0.1'],
    ['::1', '0:0:0:0:0:0:0:1', '::'],
    ['::ffff:10.0.0.0/104', '::ffff:a01:203', '::ffff:11.0.0.0'],
    ['fe80::/10', 'fe80::1%eth0', 'fec0::1'],
    ['10.0.0.0/8', '10.255.0.1', 'no address'],
  ]
  for (const [text, inside = '', outside = ''] of rows) {
    assert.equal(parseSubnet(text)?.includes(inside), true, text)
    assert.equal(parseSubnet(text)?.includes(outside), false, text)
  }
  for (const text of [
    '',
    '10.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '01.2.3.4',
  ])
    assert.equal(parseSubnet(text), undefined, text)
  assert.equal(isIP(bareAddress('::ffff:10.0.0.1')), 4)
})

test('blockOf() is the same for all addresses of a customer, however they are written', () => {
  assert.equal(blockOf('203.0.113.7'), '203.0.113.0/24')
  assert.equal(blockOf('::ffff:203.0.113.255'), '203.0.113.0/24')
  assert.equal(blockOf('203.0.114.7'), '203.0.114.0/24')
  const [whole, ...same] = ['2001:db8:1::', '2001:DB8:1:ffff::1', '2001:0db8:0001:2::'].map(blockOf)
  assert.deepEqual([whole, ...new Set(same)], ['2001:db8:1::/48', '2001:db8:1::/48'])
  assert.equal(blockOf('2001:db8:2::'), '2001:db8:2::/48')
  assert.equal(blockOf(''), '')
})
