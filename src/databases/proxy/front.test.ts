import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { quiet } from '#postgres/testing.ts'
import { createBackends } from './backends.ts'
import { createCancels } from './cancels.ts'
import { openCertificate } from './certificate.ts'
import { createConversations } from './converse.ts'
import { createFront, type FrontDeps } from './front.ts'
import { createLoginLimits, UNSERVED } from './login-limits.ts'
import { createPipeMarks } from '#metering/pipe-marks.ts'
import { STRANGERS_MAX } from './strangers.ts'
import { createUses } from './uses.ts'
import { startupMessage } from '#wire/messages.ts'

/** A front whose state gives these roles; returns its port. */
async function serve(
  t: TestContext,
  roleOf: FrontDeps['roleOf'],
  own: Partial<Pick<FrontDeps, 'absorb' | 'limits'>> = {},
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-front-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const certificate = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const cancels = createCancels({ number: 1, proxies: [], log: quiet })
  const uses = createUses({ wake: away, bill: away })
  const { server, close } = createFront({
    certificate: () => certificate,
    roleOf,
    cancels,
    conversations: createConversations({ backends: createBackends(), cancels, uses, log: quiet }),
    limits: createLoginLimits(systemClock, 1),
    marks: createPipeMarks(),
    absorb: () => undefined,
    clock: systemClock,
    log: quiet,
    ...own,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => close())
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

const away = () => Promise.reject(new TypeError('the state is away'))
const STARTUP = startupMessage(new Map([['user', 'u']]))

/** All that the server says to a client that begins so and waits. */
async function toldAfter(port: number, first: Buffer): Promise<string> {
  const client = connect(port, '127.0.0.1')
  client.write(first)
  let told = ''
  for await (const chunk of client) told += String(chunk)
  return told
}

test('a client is told to try again while the state is away', async (t) => {
  assert.match(await toldAfter(await serve(t, away), STARTUP), /C57P03\0/)
})

test('a login that makes room for others is told why, before its first byte and at the password', async (t) => {
  const port = await serve(t, async () => undefined)
  const crowd: Socket[] = []
  t.after(() => crowd.forEach((socket) => socket.destroy()))
  for (const first of [Buffer.alloc(0), STARTUP]) {
    const told = toldAfter(port, first)
    while (crowd.length % STRANGERS_MAX > 0 || crowd.length < STRANGERS_MAX) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      crowd.push(socket)
      await once(socket, 'connect')
    }
    assert.match(await told, /C53300\0Mtoo many logins at once/)
    crowd.splice(0).forEach((socket) => socket.destroy())
  }
})

/** The seconds until the kernel asks a client whether anybody is there; undefined while another timer runs. */
function asksInS(port: number, client: Socket): number | undefined {
  const ending = (of: number) => `:${of.toString(16).toUpperCase().padStart(4, '0')}`
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find(
      ([, own, other]) =>
        own?.endsWith(ending(port)) === true &&
        other?.endsWith(ending(client.localPort ?? 0)) === true,
    )
  // The timer 2 is that of an idle connection, in hundredths of a second.
  const [timer, rest = ''] = line?.[5]?.split(':') ?? []
  return timer === '02' ? Number.parseInt(rest, 16) / 100 : undefined
}

test('front door: a client that is silent is asked by the kernel after a minute, and not after two hours', async (t) => {
  const port = await serve(t, away)
  const client = connect(port, '127.0.0.1')
  t.after(() => client.destroy())
  await once(client, 'connect')
  let seconds: number | undefined
  for (let nth = 0; nth < 100 && seconds === undefined; nth++) {
    await pause(20)
    seconds = asksInS(port, client)
  }
  assert.ok(seconds !== undefined && seconds > 30 && seconds <= 60, `${seconds} s`)
})

const FLOOD = 2000
const AT_ONCE = 50

test('a flood of logins that fail costs a bounded amount, which nobody is billed for', async (t) => {
  let absorbed = 0
  let cpuNs = 0
  const beganMs = performance.now()
  const port = await serve(t, async () => undefined, {
    // As from another machine.
    limits: createLoginLimits(systemClock, 1, () => false),
    absorb(usedNs) {
      absorbed++
      cpuNs += usedNs
    },
  })
  const told = new Map<string, number>()
  const fail = async () => {
    const client = connect(port, '127.0.0.1')
    client.on('error', () => undefined).write(STARTUP)
    const [said] = (await once(client, 'data').catch(() => [''])) as [Buffer | string]
    const code = /C(\w{5})\0/.exec(String(said))?.[1] ?? 'asked for a password'
    told.set(code, (told.get(code) ?? 0) + 1)
    client.destroy()
    await once(client, 'close')
  }
  for (let nth = 0; nth < FLOOD; nth += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, fail))
  const seconds = (performance.now() - beganMs) / 1000
  t.diagnostic(`${JSON.stringify(Object.fromEntries(told))} in ${seconds.toFixed(1)} s`)
  const most = UNSERVED.burst + UNSERVED.perSecond * seconds + AT_ONCE
  assert.ok(absorbed >= UNSERVED.burst && absorbed <= most, `${absorbed} of at most ${most}`)
  assert.ok((told.get('53300') ?? 0) >= FLOOD - most)
  assert.ok(cpuNs > 0)
})
