import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSessionShares, SESSIONS_MAX, type Holder } from './session-shares.ts'

/** Proxies that use and free sessions, and give back what they do not use when they are asked to. */
function proxies(count: number) {
  const shares = createSessionShares(count)
  const all = Array.from({ length: count }, () => {
    const proxy = { share: 0, used: 0, answers: true }
    const holder: Holder = {
      tell: (sessions) => void (proxy.share = sessions),
      recall() {
        if (!proxy.answers) return
        const unused = proxy.share - proxy.used
        proxy.share = proxy.used
        queueMicrotask(() => shares.giveBack(holder, unused))
      },
    }
    return Object.assign(proxy, { holder })
  })
  return { shares, all }
}
type Proxy = ReturnType<typeof proxies>['all'][number]

async function use(shares: ReturnType<typeof createSessionShares>, proxy: Proxy): Promise<boolean> {
  if (proxy.used >= proxy.share) await shares.more(proxy.holder)
  if (proxy.used >= proxy.share) return false
  proxy.used++
  return true
}

test('one proxy has all sessions at once', () => {
  const { shares, all } = proxies(1)
  for (const { holder } of all) shares.join(holder)
  assert.equal(all[0]?.share, SESSIONS_MAX)
})

test('the shares never exceed the most, and whoever needs a session gets what nobody uses', async () => {
  const step = fc.record({ who: fc.nat({ max: 2 }), ends: fc.nat({ max: 3 }).map((n) => n === 0) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      const { shares, all } = proxies(3)
      for (const { holder } of all) shares.join(holder)
      const used = () => all.reduce((sum, proxy) => sum + proxy.used, 0)
      for (const { who, ends } of steps) {
        const proxy = all[who]
        if (proxy === undefined) continue
        if (ends) proxy.used = Math.max(0, proxy.used - 1)
        else assert.equal(await use(shares, proxy), used() <= SESSIONS_MAX && proxy.used > 0)
        assert.ok(all.reduce((sum, { share }) => sum + share, 0) <= SESSIONS_MAX)
      }
    }),
    { numRuns: 30 },
  )
})

test('one session too many is refused, until a proxy dies', async () => {
  const { shares, all } = proxies(2)
  const [one, other] = all
  assert.ok(one && other)
  for (const { holder } of all) shares.join(holder)
  for (let n = 0; n < SESSIONS_MAX; n++) assert.ok(await use(shares, n % 3 === 0 ? one : other))
  assert.equal(await use(shares, one), false)
  shares.leave(other.holder)
  assert.ok(await use(shares, one))
})

test('a proxy that is silent gives nothing back, and delays the others no longer than that', async () => {
  const { shares, all } = proxies(2)
  const [one, silent] = all
  assert.ok(one && silent)
  for (const { holder } of all) shares.join(holder)
  silent.answers = false
  let sessions = 0
  while (await use(shares, one)) sessions++
  assert.equal(sessions, SESSIONS_MAX - silent.share)
})

test('a proxy gives back no more than it has, whatever it says', async () => {
  for (const said of [1000, SESSIONS_MAX, -1000]) {
    const { shares, all } = proxies(2)
    const [one, other] = all
    assert.ok(one && other)
    for (const { holder } of all) shares.join(holder)
    const had = (one.used = one.share)
    shares.giveBack(one.holder, said)
    for (let n = 0; n < SESSIONS_MAX; n++) await shares.more(other.holder)
    assert.equal(other.share, said > 0 ? SESSIONS_MAX : SESSIONS_MAX - had)
  }
})
