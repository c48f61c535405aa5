import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountAddress } from '#node/account-address.ts'
import {
  ADDRESS_FAILURES,
  ALL_UNSERVED,
  createLoginLimits,
  DATABASE_FAILURES,
  FAILURE_DELAY_MS_MAX,
  LOGINS,
  ROLE_FAILURES,
  sharedAt,
  UNSERVED,
} from './login-limits.ts'

const atTime = (proxies = 1) => {
  const clock = { nowMs: 1000, monotonicMs: () => clock.nowMs }
  return { clock, limits: createLoginLimits(clock, proxies) }
}
const roleOf = (name: string, account = `acct_of_${name}`) => ({ name, account })
const times = (count: number, act: () => void) => {
  for (let nth = 0; nth < count; nth++) act()
}

test('wrong passwords are answered later and later, and then the role is refused from that address alone', () => {
  const { clock, limits } = atTime()
  const fail = () => limits.failed('u_1', '192.0.2.1')
  times(ROLE_FAILURES.burst, () => assert.equal(fail(), 0))
  assert.deepEqual([fail(), fail()], [1000, 2000])
  assert.equal(limits.refusal('u_1', '192.0.2.1'), undefined)
  times(100, () => assert.ok(fail() <= FAILURE_DELAY_MS_MAX))
  assert.equal(limits.refusal('u_1', '192.0.2.1')?.code, '53300')
  assert.equal(limits.refusal('u_1', '192.0.2.2'), undefined)
  assert.equal(limits.refusal('u_2', '192.0.2.1'), undefined)
  clock.nowMs += 200_000
  assert.equal(limits.refusal('u_1', '192.0.2.1'), undefined)
  assert.equal(fail(), 0)
})

test('an address that tries many roles is refused for each, with all of its network', () => {
  const { limits } = atTime()
  const failures =
    ADDRESS_FAILURES.burst + (FAILURE_DELAY_MS_MAX / 1000) * ADDRESS_FAILURES.perSecond
  for (let nth = 0; nth < failures; nth++) limits.failed(`u_${nth}`, `2001:db8::${nth}`)
  assert.equal(limits.refusal('u_x', '2001:db8::ffff')?.code, '53300')
  assert.equal(limits.refusal('u_x', '2001:db9::1'), undefined)
  assert.equal(limits.refusal('u_x', '::ffff:192.0.2.1'), undefined)
})

test('logins of a database have a pace of their own', () => {
  const { clock, limits } = atTime()
  times(LOGINS.burst, () => assert.equal(limits.loggedIn('db_1'), undefined))
  times(3, () => assert.equal(limits.loggedIn('db_1')?.code, limits.loggedIn('db_2') ?? '53300'))
  clock.nowMs += 1000
  times(LOGINS.perSecond, () => assert.equal(limits.loggedIn('db_1'), undefined))
  assert.equal(limits.loggedIn('db_1')?.code, '53300')
})

test('proxies together have one pace', () => {
  const both = [atTime(2), atTime(2)]
  const served = () =>
    both.reduce((sum, { limits }) => {
      let count = 0
      while (limits.loggedIn('db_1') === undefined) count++
      return sum + count
    }, 0)
  assert.equal(served(), LOGINS.burst)
  for (const { clock } of both) clock.nowMs += 1000
  assert.equal(served(), LOGINS.perSecond)
  const [one] = both
  assert.ok(one)
  times(ROLE_FAILURES.burst / 2, () => assert.equal(one.limits.failed('u_1', '192.0.2.1'), 0))
  assert.equal(one.limits.failed('u_1', '192.0.2.1'), 2000 / ROLE_FAILURES.perSecond)
})

test('wrong passwords from everywhere shut out addresses that the database does not know, and no other database', () => {
  const { clock, limits } = atTime()
  limits.known(roleOf('u_1'), '192.0.2.1')
  const failures =
    DATABASE_FAILURES.burst + (FAILURE_DELAY_MS_MAX / 1000 + 1) * DATABASE_FAILURES.perSecond
  for (let nth = 0; nth < failures; nth++)
    limits.failed(nth % 2 === 0 ? 'u_1' : 'u_1_app', `198.51.100.${nth}`)
  assert.equal(limits.refusal('u_1_app', '203.0.113.1')?.code, '53300')
  assert.equal(limits.refusal('u_1_app', '192.0.2.1'), undefined)
  assert.equal(limits.refusal('u_2', '203.0.113.1'), undefined)
  clock.nowMs += 2000
  assert.equal(limits.refusal('u_1', '203.0.113.1'), undefined)
})

test('connections without a session are turned away from their address, and from everywhere but where logins came from', () => {
  const { clock, limits } = atTime()
  limits.known(roleOf('u_1'), '192.0.2.1')
  times(UNSERVED.burst, () => {
    assert.equal(limits.crowded('198.51.100.1'), undefined)
    limits.unserved('198.51.100.1')
  })
  assert.equal(limits.crowded('198.51.100.1')?.code, '53300')
  assert.equal(limits.crowded('198.51.100.2'), undefined)
  for (let nth = UNSERVED.burst; nth < ALL_UNSERVED.burst; nth++)
    limits.unserved(`203.0.${nth % 100}.1`)
  assert.match(limits.crowded('198.51.100.2')?.message ?? '', /from everywhere/)
  assert.equal(limits.crowded('192.0.2.1'), undefined)
  clock.nowMs += 1000
  assert.equal(limits.crowded('198.51.100.2'), undefined)
  assert.equal(limits.crowded('198.51.100.1'), undefined)
})

test('logins to one database from many networks make no other database forget those that it knows', () => {
  const { limits } = atTime()
  limits.known(roleOf('u_1'), '192.0.2.1')
  for (let nth = 0; nth < 65_536; nth++)
    limits.known(roleOf('u_evil'), `2001:db8:1:${nth.toString(16)}::1`)
  const failures =
    DATABASE_FAILURES.burst + (FAILURE_DELAY_MS_MAX / 1000 + 1) * DATABASE_FAILURES.perSecond
  for (let nth = 0; nth < failures; nth++) limits.failed('u_1', `198.51.100.${nth}`)
  assert.equal(limits.refusal('u_1', '203.0.113.1')?.code, '53300')
  assert.equal(limits.refusal('u_1', '192.0.2.1'), undefined)
  for (let nth = 0; nth < ALL_UNSERVED.burst; nth++) limits.unserved(`203.0.${nth % 100}.1`)
  assert.match(limits.crowded('2001:db8:1::1')?.message ?? '', /from everywhere/)
  assert.equal(limits.crowded('2001:db8:1:ffff::2'), undefined)
  assert.equal(limits.crowded('192.0.2.1'), undefined)
})

test('databases that an account makes and deletes make no other account forget', () => {
  const { limits } = atTime()
  const own = '192.0.2.1'
  limits.known(roleOf('u_1'), own)
  for (let nth = 0; nth < 3000; nth++) limits.known(roleOf(`u_many${nth}`, 'acct_many'), own)
  for (let nth = 0; nth < ALL_UNSERVED.burst; nth++) limits.unserved(`203.0.${nth % 100}.1`)
  const failures =
    DATABASE_FAILURES.burst + (FAILURE_DELAY_MS_MAX / 1000 + 1) * DATABASE_FAILURES.perSecond
  for (const role of ['u_1', 'u_many0', 'u_many2999'])
    for (let nth = 0; nth < failures; nth++) limits.failed(role, `198.51.100.${nth}`)
  assert.equal(limits.refusal('u_1', own), undefined)
  assert.equal(limits.refusal('u_many2999', own), undefined, 'the last databases of an account')
  assert.equal(limits.refusal('u_many0', own)?.code, '53300', 'the first ones')
})

test('a network stays known while one of its databases remembers it', () => {
  const { limits } = atTime()
  for (const role of ['u_1', 'u_2', 'u_2']) limits.known(roleOf(role), '192.0.2.1')
  for (let nth = 0; nth < 200; nth++) limits.known(roleOf('u_2'), `198.51.100.${nth}`)
  for (let nth = 0; nth < ALL_UNSERVED.burst; nth++) limits.unserved(`203.0.${nth % 100}.1`)
  assert.equal(limits.crowded('192.0.2.1'), undefined)
  for (let nth = 0; nth < 200; nth++) limits.known(roleOf('u_1'), `198.51.100.${nth}`)
  assert.match(limits.crowded('192.0.2.1')?.message ?? '', /from everywhere/)
})

test('code of an account on this machine has the limits of its own address', () => {
  const { limits } = atTime()
  const [own, other] = [accountAddress('acct_a'), accountAddress('acct_b')]
  times(UNSERVED.burst + 1, () => limits.unserved(`::ffff:${own}`))
  assert.equal(limits.crowded(`::ffff:${own}`)?.code, '53300')
  assert.equal(limits.crowded(other), undefined)
  for (let nth = 0; nth < 2 * ADDRESS_FAILURES.burst; nth++) limits.failed(`u_${nth}`, own)
  assert.equal(limits.refusal('u_x', own)?.code, '53300')
  assert.equal(limits.refusal('u_x', other), undefined)
})

test('an address of the machine that code of all accounts calls from shuts out nobody', () => {
  const { clock } = atTime()
  const limits = createLoginLimits(clock, 1, sharedAt('10.0.0.5'))
  times(2 * UNSERVED.burst, () => limits.unserved('10.0.0.5'))
  assert.equal(limits.crowded('10.0.0.5'), undefined)
  times(2 * UNSERVED.burst, () => limits.unserved('10.0.0.6'))
  assert.equal(limits.crowded('10.0.0.6')?.code, '53300')
})

test('code of one account cannot shut out that of others on this machine', () => {
  const { limits } = atTime()
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::1', undefined]) {
    for (let nth = 0; nth < 2 * ALL_UNSERVED.burst; nth++) {
      limits.unserved(address)
      limits.failed(`u_${nth}`, address)
    }
    assert.equal(limits.crowded(address), undefined)
    assert.equal(limits.refusal('u_x', address), undefined)
  }
  assert.equal(limits.crowded('198.51.100.1'), undefined)
})

test('long names of roles that no role has take no memory', () => {
  const { limits } = atTime()
  const name = 'u_1_'.padEnd(8000, 'x')
  times(ROLE_FAILURES.burst + 10, () => limits.failed(`${name}1`, '198.51.100.1'))
  assert.equal(limits.refusal(`${name}2`, '198.51.100.1')?.code, '53300', 'the end counts as none')
})
