// The receivers of examples/webhooks run as they stand and get deliveries of a product. ERGON_LONG=1 also compiles the one
// in Go.
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freeBlock } from '../ports.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner } from './owner.ts'

product(PLAIN)

const run = promisify(execFile)
const FOLDER = 'examples/webhooks'
/** Go compiles net/http first. */
const START_MAX_MS = 240_000
const has = (program: string, ...words: string[]) =>
  spawnSync(program, words, { stdio: 'ignore' }).status === 0
const whyNoGo = () => {
  if (process.env['ERGON_LONG'] !== '1') return 'ERGON_LONG=1 compiles it'
  return has('go', 'version') ? false : 'go is not installed'
}

async function listens(port: number): Promise<void> {
  const lastMs = performance.now() + START_MAX_MS
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    assert.ok(performance.now() < lastMs, 'the example does not listen')
    await pause(50)
  }
}

/**
 * Without a secret an example must end, as everyone signs with an empty one. Connections to the product are kept
 * meanwhile: a wait that stops this process would not see that the product closes them.
 */
async function endsWithoutSecret([program, ...words]: readonly [string, ...string[]]) {
  for (const secret of [undefined, '', 'whsec_']) {
    const env = { ...process.env, ERGON_WEBHOOK_SECRET: secret, PORT: String(await freeBlock()) }
    await assert.rejects(run(program, words, { env, timeout: START_MAX_MS }), {
      code: 1,
      stderr: /Set ERGON_WEBHOOK_SECRET/,
    })
  }
}

/** Starts an example and delivers an event to it; it must print that event, once, and refuse a forged one. */
async function receives(command: readonly [string, ...string[]]): Promise<void> {
  await endsWithoutSecret(command)
  const ergon = sharedErgon()
  const port = await freeBlock()
  const url = `http://127.0.0.1:${port}/`
  const owner = await openOwner(ergon)
  const { id, secret } = await owner.create(url, ['balance.low'])
  const [program, ...words] = command
  const child = spawn(program, words, {
    env: { ...process.env, ERGON_WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let printed = ''
  child.stdout.on('data', (piece: Buffer) => (printed += String(piece)))
  try {
    await listens(port)
    const forged = await fetch(url, {
      method: 'POST',
      headers: { 'x-svc-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` },
      body: '{}',
    })
    assert.equal(forged.status, 400)
    const test = async () => {
      const sent = await owner.call('POST', `/v1/webhooks/${id}/test`, { event: 'balance.low' })
      return String(sent.json['event_id'])
    }
    const event = await test()
    const settled = async () => (await owner.get(id)).pending === 0
    while (!(await settled())) await pause(50)
    await owner.call('POST', `/v1/webhooks/${id}/replay`, { event_id: event })
    while (!(await settled())) await pause(50)
    assert.equal((await owner.get(id)).failures, 0)
    assert.equal(printed.split(event).length, 2, printed)
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await once(child, 'exit')
    await owner.call('DELETE', `/v1/webhooks/${id}`)
  }
}

test('examples/webhooks/receiver.ts', () => receives([process.execPath, `${FOLDER}/receiver.ts`]))
test(
  'examples/webhooks/receiver.py',
  { skip: has('python3', '--version') ? false : 'python3 is not installed' },
  () => receives(['python3', `${FOLDER}/receiver.py`]),
)
test('examples/webhooks/receiver.go', { skip: whyNoGo() }, () =>
  receives(['go', 'run', `${FOLDER}/receiver.go`]),
)
