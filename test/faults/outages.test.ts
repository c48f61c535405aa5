// Operations that go on while a part is silent: the state, two signers, three signers. A stopped process (SIGSTOP) is
// the worst of the silent ones, as its sockets stay open.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ledgerFaults, receiptFaults } from './check.ts'
import { signalProcess } from '#cells/stop.ts'
import { childrenOf, readyProgramOf } from './processes.ts'
import { call, callOnce, type Reply } from './raw-start.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { METERED } from '../settings.ts'

product(METERED)

const LIMIT_MS = 60_000
const told: string[] = []
let ergon: Ergon

before(async () => {
  ergon = sharedErgon()
  await sealed(await keep('/v1/models'))
})

/** A call with the token whose receipt id is kept. */
async function keep(path: string, ask = call): Promise<Reply> {
  const reply = await ask(ergon.ready, path)
  told.push(String(reply.headers['x-receipt-id']))
  return reply
}

const sealed = (reply: Reply) => eventually(async () => (await receiptOf(reply)).status === 200)

const receiptOf = (reply: Reply) =>
  call(ergon.ready, `/v1/receipts/${String(reply.headers['x-receipt-id'])}`)

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const last = performance.now() + LIMIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < last, 'it does not come to hold')
    await pause(50)
  }
}

/** Stops the processes of cells until the work is done. */
async function silent(names: readonly string[], work: () => Promise<void>): Promise<void> {
  const pids: number[] = []
  for (const name of names) {
    const pid = await readyProgramOf(ergon, name)
    pids.push(pid, ...childrenOf(pid))
  }
  // A worker of PostgreSQL may end between the scan and the signal.
  for (const pid of pids) signalProcess(pid, 'SIGSTOP')
  try {
    await work()
  } finally {
    for (const pid of pids) signalProcess(pid, 'SIGCONT')
  }
}

test('a silent state: 503 with Retry-After when the lease of tokens has run out, then 200 again', async () => {
  await silent(['postgres'], async () => {
    let refused = await keep('/v1/models', callOnce)
    await eventually(async () => {
      refused = await keep('/v1/models', callOnce)
      return refused.status !== 200
    })
    assert.equal(refused.status, 503)
    assert.match(refused.body, /state_unavailable/)
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal((await keep('/healthz', callOnce)).status, 200)
    assert.equal((await keep('/readyz', callOnce)).status, 503)
  })
  await eventually(async () => (await keep('/v1/models')).status === 200)
})

test('a killed state: it is there again, and so are requests, ticks and receipts', async () => {
  process.kill(await readyProgramOf(ergon, 'postgres'), 'SIGKILL')
  await eventually(async () => (await keep('/v1/models')).status === 200)
  await sealed(await keep('/v1/models'))
})

test('two silent signers: receipts go on', async () => {
  await silent(['signer-1', 'signer-4'], async () => {
    await sealed(await keep('/v1/models'))
  })
})

test('three silent signers: requests go on, receipts wait and are sealed later', async () => {
  let waiting: Reply | undefined
  await silent(['signer-1', 'signer-2', 'signer-5'], async () => {
    waiting = await keep('/v1/models')
    assert.equal(waiting.status, 200)
    await eventually(async () => (await receiptOf(waiting as Reply)).status === 202)
    // Longer than any interval of the sealer.
    await pause(2500)
    const unsealed = await receiptOf(waiting)
    assert.equal(unsealed.status, 202)
    assert.equal(unsealed.headers['retry-after'], '1')
    assert.equal((await keep('/v1/models')).status, 200)
  })
  await sealed(waiting as Reply)
})

test('after all of it every id that was told has a charge and a receipt, and the books add up', async () => {
  assert.deepEqual(await receiptFaults(ergon, new Set(told)), [])
  assert.deepEqual(await ledgerFaults(ergon), [])
})
