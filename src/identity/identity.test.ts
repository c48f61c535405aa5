import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { mintSession, mintToken } from './token-text.ts'
import { createIdentity } from './identity.ts'

const ROW = {
  id: 'tok_a',
  account: 'acct_a',
  scope: 'read',
  env: 'test',
  funded: false,
  refuse_token_presign: false,
  requests_per_minute: null,
  budget: null,
  expires_at: null,
  revoked_at: null,
}

/** A state that answers each lookup with the next of `rows`; `between` runs before it answers. */
function stateOf(rows: readonly SqlRow[], between: () => void = () => undefined) {
  let asked = 0
  const state: Queryable = {
    async query<R extends SqlRow>() {
      const row = rows[Math.min(asked++, rows.length - 1)] as R | undefined
      between()
      return { rows: row === undefined ? [] : [row], rowCount: rows.length }
    },
  }
  return { state, asked: () => asked }
}

test('identify() asks again when its answer is older than a revocation the session has seen', async () => {
  const session = { fresh: true, epoch: 5n }
  // The revocation and its tick come while the first lookup is on its way.
  const { state } = stateOf(
    [
      { ...ROW, epoch: '5' },
      { ...ROW, epoch: '6', revoked_at: new Date() },
    ],
    () => (session.epoch = 6n),
  )
  const identity = createIdentity({ state, session, clock: systemClock })
  await assert.rejects(async () => await identity.identify(`Bearer ${mintToken()}`), {
    code: 'token_revoked',
  })
})

test('identify() gives up when every answer is overtaken', async () => {
  const session = { fresh: true, epoch: 5n }
  const { state, asked } = stateOf([{ ...ROW, epoch: '4' }])
  const identity = createIdentity({ state, session, clock: systemClock })
  await assert.rejects(async () => await identity.identify(`Bearer ${mintToken()}`), {
    code: 'state_unavailable',
  })
  assert.ok(asked() < 10)
})

test('identify() keeps an answer until a tick names the token or its account', async () => {
  const { state, asked } = stateOf([{ ...ROW, epoch: '5' }])
  const identity = createIdentity({
    state,
    session: { fresh: true, epoch: 5n },
    clock: systemClock,
  })
  const credential = `Bearer ${mintToken()}`
  const ask = async () => await identity.identify(credential)
  await ask()
  await ask()
  identity.forget([{ token: 'tok_b', account: 'acct_a' }])
  await ask()
  assert.equal(asked(), 1)
  identity.forget([{ token: 'tok_a', account: 'acct_a' }])
  await ask()
  identity.forget([{ token: null, account: 'acct_a' }])
  await ask()
  assert.equal(asked(), 3)
})

const REVOKED = { ...ROW, epoch: '5', revoked_at: new Date() }
const fresh = { fresh: true, epoch: 5n }

for (const [code, rows] of [
  ['token_revoked', [REVOKED]],
  ['token_unknown', []],
] as const)
  test(`identify() asks once a second for a token that is refused with ${code}`, async () => {
    let nowMs = 0
    const { state, asked } = stateOf(rows)
    const clock = { ...systemClock, monotonicMs: () => nowMs }
    const identity = createIdentity({ state, session: fresh, clock })
    const credential = `Bearer ${mintToken()}`
    const ask = () => assert.rejects(async () => await identity.identify(credential), { code })
    for (let nth = 0; nth < 50; nth++) await ask()
    assert.equal(asked(), 1)
    nowMs = 999
    await ask()
    assert.equal(asked(), 1)
    nowMs = 1001
    await ask()
    assert.equal(asked(), 2)
    identity.forget([{ token: null, account: 'acct_b' }])
    await ask()
    assert.equal(asked(), 3, 'asked again at once when credentials have changed')
    // A token that was just made works at once, whatever was refused before.
    const { state: other } = stateOf([{ ...ROW, epoch: '5' }])
    const next = createIdentity({ state: other, session: fresh, clock })
    assert.equal((await next.identify(`Bearer ${mintToken()}`)).account, 'acct_a')
  })

test('identify() asks for nothing that cannot be a token', () => {
  const { state, asked } = stateOf([])
  const identity = createIdentity({ state, session: fresh, clock: systemClock })
  for (const text of ['x', 'svc_', `svc_${'a'.repeat(38)}`, `${mintToken()}a`])
    assert.throws(() => identity.identify(`Bearer ${text}`), { code: 'token_unknown' })
  assert.equal(asked(), 0)
})

test('identify() has a bounded number of look-ups under way, one for each token', async () => {
  const go = Promise.withResolvers<void>()
  let asked = 0
  const state: Queryable = {
    async query<R extends SqlRow>() {
      asked++
      await go.promise
      return { rows: [{ ...ROW, epoch: '5' } as unknown as R], rowCount: 1 }
    },
  }
  const identity = createIdentity({ state, session: fresh, clock: systemClock })
  const ask = async (token: string) => await identity.identify(`Bearer ${token}`)
  const tokens = Array.from({ length: 256 }, mintToken)
  const all = [...tokens, ...tokens].map(ask)
  assert.equal(asked, 256)
  await assert.rejects(ask(mintToken()), { code: 'overloaded', retryAfterS: 1 })
  go.resolve()
  for (const { account } of await Promise.all(all)) assert.equal(account, 'acct_a')
  assert.equal((await ask(mintToken())).account, 'acct_a')
})

test('identifySession() asks again at the end that it knew, which use may have moved', async () => {
  const nowMs = Date.now()
  const session = { session_ends_at: new Date(nowMs + 86_400_000), touched_until: new Date(nowMs) }
  const row = { ...ROW, ...session, is_limited: false, epoch: '5' }
  let wallMs = nowMs
  const { state, asked } = stateOf([
    { ...row, expires_at: new Date(nowMs + 1000) },
    { ...row, expires_at: new Date(nowMs + 5000) },
  ])
  const identity = createIdentity({
    state,
    session: { fresh: true, epoch: 5n },
    clock: { ...systemClock, wallMs: () => wallMs },
  })
  const text = mintSession()
  const ask = async () => await identity.identifySession(text)
  assert.equal((await ask()).session?.idleUntilMs, nowMs + 1000)
  await ask()
  assert.equal(asked(), 1)
  wallMs += 2000
  assert.equal((await ask()).session?.idleUntilMs, nowMs + 5000)
  wallMs += 4000
  await assert.rejects(ask, { code: 'token_expired' })
})

test('a session is no bearer token, and a token no session', async () => {
  const { state, asked } = stateOf([{ ...ROW, epoch: '5' }])
  const given = { state, session: { fresh: true, epoch: 5n }, clock: systemClock }
  const identity = createIdentity(given)
  const unknown = { code: 'token_unknown' }
  await assert.rejects(async () => await identity.identify(`Bearer ${mintSession()}`), unknown)
  await assert.rejects(async () => await identity.identifyToken(mintSession()), unknown)
  await assert.rejects(async () => await identity.identifySession(mintToken()), unknown)
  assert.equal(asked(), 0)
})
