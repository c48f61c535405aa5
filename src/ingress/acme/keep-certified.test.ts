// Which names are ordered, and when: with orders and a clock of the test. Orders at an authority are in acme.test.ts.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { createContexts } from '#ingress/certificates/contexts.ts'
import { keepCertified, type CertifiedDeps } from './keep-certified.ts'
import { keepCertificates } from './kept-certificates.ts'
import { AuthorityAway } from './orders.ts'
import { openWaits } from './waits.ts'

const MINUTE_MS = 60_000
const silent = createLogger('test', { level: 'error', write: () => undefined })
const PAIR = testCertificate('a.example')

/** `nth.a.example` is of a. */
const accountOf = (host: string) => host.split('.').at(-2) ?? ''

type Started = {
  readonly deps: CertifiedDeps
  /** Names in the order in which they were asked for. */
  readonly asked: string[]
  readonly logged: () => string
  /** Sets the clock forward. */
  pass(ms: number): void
  /** Resolves after it has looked several times. */
  settled(): Promise<void>
}

/** Runs until the test ends. `order` may throw. */
function start(
  t: TestContext,
  hosts: () => readonly string[],

  { order, ...more }: Partial<CertifiedDeps> & { readonly order?: (host: string) => void } = {},
): Started {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-certified-'))
  let [aheadMs, looks, logged] = [0, 0, '']
  const log = createLogger('test', { level: 'info', write: (line) => (logged += line) })
  const asked: string[] = []
  const deps: CertifiedDeps = {
    hosts: () => (looks++, hosts().map((host) => [host, accountOf(host)] as const)),
    isCovered: () => false,
    orders: {
      async order(host) {
        asked.push(host)
        order?.(host)
        return PAIR
      },
    },
    kept: keepCertificates(folder, log),
    waits: openWaits(join(folder, 'waits.list')),
    contexts: createContexts(log),
    alarm: async () => undefined,
    clock: { wallMs: () => Date.now() + aheadMs },
    log,
    lookMs: 5,
    ...more,
  }
  const ending = new AbortController()
  const ended = keepCertified(deps, ending.signal)
  t.after(async () => {
    ending.abort()
    await ended
    rmSync(folder, { recursive: true })
  })
  const settled = async () => {
    const [from, lastMs] = [looks, performance.now() + 30_000]
    while (looks < from + 6) {
      assert.ok(performance.now() < lastMs, `it does not look any more: ${logged}`)
      await pause(5)
    }
  }
  return { deps, asked, logged: () => logged, pass: (ms) => void (aheadMs += ms), settled }
}

test('a name at which the authority fails waits, and the next ones are ordered', async (t) => {
  const { asked, pass, settled, deps } = start(t, () => ['bad.example', 'good.example'], {
    order(host) {
      if (host === 'bad.example') throw new AuthorityAway('status 500')
    },
  })
  await settled()
  assert.deepEqual(asked, ['bad.example', 'good.example'])
  assert.ok(deps.contexts.of('good.example'))
  pass(MINUTE_MS)
  await settled()
  assert.deepEqual(asked.slice(2), ['bad.example'])
  pass(MINUTE_MS)
  await settled()
  assert.equal(asked.length, 3)
  // It has not failed itself.
  assert.equal(deps.waits.of('bad.example', deps.clock.wallMs()), undefined)
})

test('a kept certificate that is none is told, and ordered again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-kept-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const kept = keepCertificates(folder, silent)
  kept.write('bad.example', { cert: 'no certificate', key: PAIR.key })
  kept.write('other.example', { cert: PAIR.cert, key: testCertificate('b.example').key })
  kept.write('good.example', PAIR)
  const { asked, settled } = start(t, () => ['good.example', 'bad.example', 'other.example'], {
    kept,
  })
  await settled()
  assert.deepEqual(asked, ['bad.example', 'other.example'])
  assert.deepEqual([...kept.all().keys()].toSorted(), [
    'bad.example',
    'good.example',
    'other.example',
  ])
})

test('certificates that could not be read at the start are read later', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-kept-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const kept = keepCertificates(folder, silent)
  kept.write('good.example', PAIR)
  let fails = true
  const all = () => {
    if (!fails) return kept.all()
    fails = false
    throw new Error('the disk fails')
  }
  const { asked, deps, settled } = start(t, () => ['good.example'], { kept: { ...kept, all } })
  await settled()
  assert.ok(deps.contexts.of('good.example'))
  assert.deepEqual(asked, [])
})

const namesOf = (account: string, count: number) =>
  Array.from({ length: count }, (_, nth) => `${nth}.${account}.example`)

test('an account that has many names takes a share of the hour, and others go before', async (t) => {
  const bad = (host: string) => {
    if (accountOf(host) === 'bad') throw new Error('no such name')
  }
  let hosts = namesOf('bad', 100)
  const { asked, settled, pass } = start(t, () => hosts, { order: bad })
  await settled()
  assert.equal(asked.length, 30)
  hosts = [...hosts, ...namesOf('a', 3)]
  await settled()
  assert.deepEqual(asked.slice(30), namesOf('a', 3))
  pass(60 * MINUTE_MS)
  await settled()
  assert.equal(asked.length, 63)
})

test('90 orders are made in an hour', async (t) => {
  const hosts = ['a', 'b', 'c', 'd'].flatMap((account) => namesOf(account, 25))
  const { asked, settled, pass } = start(t, () => hosts)
  await settled()
  const counts = Map.groupBy(asked, accountOf)
  assert.deepEqual([...counts.values()].map(({ length }) => length).toSorted(), [22, 22, 23, 23])
  pass(59 * MINUTE_MS)
  await settled()
  assert.equal(asked.length, 90)
  pass(MINUTE_MS)
  await settled()
  assert.equal(new Set(asked).size, 100)
})

test('a certificate that ends is ordered before those of new names', async (t) => {
  let hosts = ['old.a.example']
  const { asked, settled, pass } = start(t, () => hosts)
  await settled()
  hosts = [...namesOf('b', 2), 'old.a.example', ...namesOf('a', 2)]
  // Two thirds of two days.
  pass(33 * 60 * MINUTE_MS)
  await settled()
  assert.deepEqual(asked.slice(0, 2), ['old.a.example', 'old.a.example'])
})

test('the longest name is kept, and one that cannot be kept is served', async (t) => {
  const long = `${Array.from({ length: 3 }, () => 'a'.repeat(63)).join('.')}.${'b'.repeat(53)}.example`
  assert.equal(long.length, 253)
  const first = start(t, () => [long])
  await first.settled()
  assert.deepEqual([...first.deps.kept.all().keys()], [long])
  first.deps.kept.remove(long)
  assert.equal(first.deps.kept.all().size, 0)
  const write = () => {
    throw new Error('the disk is full')
  }
  const second = start(t, () => ['a.example'], { kept: { ...first.deps.kept, write } })
  await second.settled()
  assert.ok(second.deps.contexts.of('a.example'))
  assert.match(second.logged(), /the disk is full/)
  assert.deepEqual(second.asked, ['a.example'])
})

test('a name that has a certificate of a file is left out', async (t) => {
  const { asked, settled } = start(t, () => ['a.example', 'file.example'], {
    isCovered: (host) => host === 'file.example',
  })
  await settled()
  assert.deepEqual(asked, ['a.example'])
})

test('a certificate that has ended is removed where no route has its name', async (t) => {
  let hosts = ['gone.example', 'stays.example']
  const { asked, deps, settled, pass } = start(t, () => hosts)
  await settled()
  hosts = ['stays.example']
  const kept = () => [...deps.kept.all().keys()].toSorted()
  pass(47 * 60 * MINUTE_MS)
  await settled()
  assert.deepEqual(kept(), ['gone.example', 'stays.example'])
  assert.ok(deps.contexts.of('gone.example'))
  pass(2 * 60 * MINUTE_MS)
  await settled()
  assert.deepEqual(kept(), ['stays.example'])
  assert.equal(deps.contexts.of('gone.example'), undefined)
  assert.equal(asked.filter((host) => host === 'gone.example').length, 1)
})
