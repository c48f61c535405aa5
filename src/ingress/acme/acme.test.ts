// Orders of certificates at Pebble.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { createLogger } from '#base/log.ts'
import { createContexts } from '#ingress/certificates/contexts.ts'
import { openInstance } from '#ingress/instance.fixture.ts'
import { testRoute } from '#ingress/route.fixture.ts'
import { RouteTable } from '#ingress/routes.ts'
import { listenPlain, listenTls } from '#ingress/server.ts'
import { startAcme, type Acme } from './acme.ts'
import { startPebble, withoutPebble, type Pebble } from './pebble.fixture.ts'

const HOST = 'api.example.test'
/** A common name has at most 64 characters. */
const LONG = `${'a'.repeat(63)}.${HOST}`
const BLOCKED = 'blocked-domain.example'
const WAIT_MS = 20_000
const DAY_MS = 86_400_000

let folder: string
let pebble: Pebble
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-acme-'))
  if (withoutPebble === false) pebble = await startPebble([BLOCKED])
})
after(() => {
  pebble?.close()
  rmSync(folder, { recursive: true })
})

const withPebble = (name: string, run: (t: TestContext) => Promise<void>) =>
  test(name, { skip: withoutPebble }, run)

type Started = Acme & { readonly alarms: object[]; readonly logged: () => string }

/** Orders for these names until the test ends. */
function start(
  t: TestContext,
  hosts: readonly string[],
  more: { readonly kept: string; readonly directory?: string; readonly ahead?: () => number },
): Started {
  const routes = new RouteTable(undefined)
  routes.put(hosts.map((host) => testRoute({ host })))
  const ending = new AbortController()
  const alarms: object[] = []
  let logged = ''
  const log = createLogger('test', { level: 'info', write: (line) => (logged += line) })
  const acme = startAcme(
    { ...pebble.settings, ...(more.directory !== undefined && { directory: more.directory }) },
    {
      folder: more.kept,
      routes,
      covered: createContexts(log),
      alarm: async (detail) => void alarms.push(detail),
      log,
      clock: { wallMs: () => Date.now() + (more.ahead?.() ?? 0) },
      lookMs: 50,
    },
    ending.signal,
  )
  t.after(async () => {
    ending.abort()
    await acme.ended
  })
  return { ...acme, alarms, logged: () => logged }
}

const newFolder = () => mkdtempSync(join(folder, 'kept-'))
const certOf = (kept: string, host = HOST): string | undefined => {
  const names = readdirSync(kept).filter((name) => name.endsWith('.json'))
  const pairs = names.map(
    (name) => JSON.parse(readFileSync(join(kept, name), 'utf8')) as { host: string; cert: string },
  )
  return pairs.find((pair) => pair.host === host)?.cert
}

async function until(holds: () => boolean, what: () => string): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!holds()) {
    assert.ok(performance.now() < lastMs, what())
    await pause(20)
  }
}

/** The plain listener that the authority asks. */
async function front(t: TestContext, acme: Acme): Promise<void> {
  const { deps } = await openInstance(t, (_request, response) => response.end('ok'))
  const { challenges } = acme
  const listen = { host: '127.0.0.1', port: pebble.httpPort }
  const server = await listenPlain({ ...deps, challenges, listen })
  t.after(() => server.drain())
}

withPebble(
  'a name of a route gets a certificate, which is kept, and serves while the authority is away',
  async (t) => {
    const kept = newFolder()
    const acme = start(t, [HOST, LONG, 'machine', '192.0.2.1', 'a.localhost'], { kept })
    await front(t, acme)
    await until(() => acme.contexts.of(HOST) !== undefined, acme.logged)
    await until(() => certOf(kept, LONG) !== undefined, acme.logged)
    const names = readdirSync(kept)
    assert.equal(names.length, 3)
    for (const name of names) assert.equal(statSync(join(kept, name)).mode & 0o777, 0o600, name)
    const again = start(t, [HOST], { kept, directory: 'https://localhost:1/dir' })
    await until(() => again.contexts.of(HOST) !== undefined, again.logged)
    const { deps } = await openInstance(t, (_request, response) => response.end('ok'), {
      host: HOST,
    })
    const listen = { host: '127.0.0.1', port: 0 }
    const tls = await listenTls({ ...deps, listen }, again.contexts.of)
    t.after(() => tls.drain())
    const client = connectTls({ port: tls.port, servername: HOST, rejectUnauthorized: false })
    await once(client, 'secureConnect')
    const { subjectaltname, issuer } = client.getPeerCertificate()
    client.destroy()
    assert.deepEqual([subjectaltname, /Pebble/.test(String(issuer.CN))], [`DNS:${HOST}`, true])
  },
)

withPebble(
  'a certificate is ordered again after two thirds of its life, once where the clock is wrong',
  async (t) => {
    const kept = newFolder()
    let ahead = 0
    const acme = start(t, [HOST], { kept, ahead: () => ahead })
    await front(t, acme)
    await until(() => certOf(kept) !== undefined, acme.logged)
    const first = certOf(kept) ?? ''
    const { validFromDate, validToDate } = new X509Certificate(first)
    const life = validToDate.getTime() - validFromDate.getTime()
    ahead = life * 0.6
    await pause(300)
    assert.equal(certOf(kept), first)
    ahead = life * 0.7
    await until(() => certOf(kept) !== first, acme.logged)
    const second = certOf(kept)
    await until(() => /is the clock right/.test(acme.logged()), acme.logged)
    await pause(300)
    assert.equal(certOf(kept), second)
  },
)

withPebble('an order that is refused is tried again later, and the operator is told', async (t) => {
  const kept = newFolder()
  let ahead = 0
  const acme = start(t, [BLOCKED], { kept, ahead: () => ahead })
  const failures = () => acme.logged().split('was not ordered').length - 1
  await until(() => failures() === 1, acme.logged)
  assert.match(acme.logged(), /blocked-domain\.example[^\n]*policy/i)
  await pause(300)
  assert.equal(failures(), 1)
  // The wait is kept over a start.
  const again = start(t, [BLOCKED], { kept })
  await pause(300)
  assert.doesNotMatch(again.logged(), /was not ordered/)
  for (const count of [2, 3]) {
    assert.deepEqual(acme.alarms, [])
    ahead += DAY_MS
    await until(() => failures() === count, acme.logged)
  }
  assert.equal(acme.alarms.length, 1)
})

withPebble(
  'an authority that is away is asked again, and no name is held to have failed',
  async (t) => {
    const kept = newFolder()
    const acme = start(t, [HOST], { kept, directory: 'https://localhost:1/dir' })
    await until(() => /the authority does not answer/.test(acme.logged()), acme.logged)
    assert.doesNotMatch(acme.logged(), /was not ordered/)
    assert.deepEqual(readdirSync(kept), ['account.pem'])
  },
)
