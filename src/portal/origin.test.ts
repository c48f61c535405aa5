import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { createCookies } from './cookies.ts'
import { portalHeaders } from './headers.ts'
import { portalOriginOf } from './origin.ts'
import { newAccountEnv, signUpRuleOf } from './sign-up-rule.ts'

const FAR = portalOriginOf('https://portal.example')
const HERE = portalOriginOf('http://portal.localhost:8081')

test('portalOriginOf() has the origin as browsers send it, and the host that passkeys are bound to', () => {
  assert.deepEqual(portalOriginOf('https://portal.example:443/'), {
    origin: 'https://portal.example',
    host: 'portal.example',
    isSecure: true,
  })
  assert.equal(HERE.origin, 'http://portal.localhost:8081')
})

test('createCookies() sets cookies of this host alone, that no script reads and no plain line carries', () => {
  const text = createCookies(FAR).session.set('ses_a')['Set-Cookie'] ?? ''
  assert.match(text, /^__Host-ergon_session=ses_a; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-/)
  assert.doesNotMatch(text, /Domain/)
  const here = createCookies(HERE).challenge.set('a')['Set-Cookie'] ?? ''
  assert.match(here, /^ergon_challenge=a; Path=\/; HttpOnly; SameSite=Strict; Max-Age=300$/)
  assert.match(createCookies(HERE).session.clear()['Set-Cookie'] ?? '', /Max-Age=0$/)
})

test('a cookie is read by its whole name, and not at all where there are two', () => {
  const { session } = createCookies(FAR)
  const read = (cookie: string) => session.read({ cookie })
  assert.equal(read('a=b; __Host-ergon_session=ses_a; c=d'), 'ses_a')
  assert.equal(read('ergon_session=ses_a'), undefined)
  assert.equal(read('x__Host-ergon_session=ses_a'), undefined)
  assert.equal(read('__Host-ergon_session=ses_a; __Host-ergon_session=ses_b'), undefined)
  assert.equal(session.read({}), undefined)
})

test('portalHeaders() allow the own origin, and pictures of the API, and keep https for good', () => {
  const headers = portalHeaders(FAR, 'https://api.example/').join('\n')
  assert.match(headers, /connect-src 'self';/)
  assert.match(headers, /img-src 'self' https:\/\/api\.example;/)
  assert.match(headers, /Strict-Transport-Security/)
  assert.doesNotMatch(portalHeaders(HERE, 'http://localhost:8080').join('\n'), /Strict-Transport/)
})

test('sign-up is open, with test money, while portal and API are on this machine alone', () => {
  const ruleOf = (settings: Parameters<typeof readSettings>[0], portalUrl: string) => {
    const config = readSettings(settings, [])
    return [signUpRuleOf(config, portalUrl), newAccountEnv(config, portalUrl)]
  }
  assert.deepEqual(ruleOf({}, HERE.origin), ['open', 'test'])
  assert.deepEqual(ruleOf({ portalUrl: FAR.origin }, FAR.origin), ['invite', 'live'])
  assert.deepEqual(ruleOf({ baseUrl: 'https://api.example' }, HERE.origin), ['invite', 'live'])
  assert.deepEqual(ruleOf({ portalUrl: FAR.origin, signUp: 'open' }, FAR.origin), ['open', 'live'])
})

test('an address of the portal that passkeys or cookies cannot use is refused', () => {
  for (const [settings, why] of [
    [{ portalUrl: 'http://portal.example' }, /plain HTTP/],
    [{ portalUrl: 'https://192.0.2.1' }, /a name, not an address/],
    [{ portalUrl: 'https://portal.example/console' }, /no path/],
    [{ portalUrl: 'http://localhost:8081' }, /a host of its own/],
    [{ portalUrl: 'https://a.example', baseUrl: 'https://a.example' }, /a host of its own/],
  ] as const)
    assert.throws(() => readSettings(settings, []), why)
})
