import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createMarks, type JoinedThread, type MarkOwner } from '#metering/marks.ts'
import { createHashers, type ChecksumAlgorithm } from './algorithms.ts'
import { createSumThread } from './sum-thread.ts'
import { BATCH_BYTES } from './sum-worker.ts'
import { sumInLine } from './summing.ts'

const hashers = createHashers()
const MD5 = new Set<ChecksumAlgorithm>(['MD5'])
const MD5_AND_CRC = new Set<ChecksumAlgorithm>(['MD5', 'CRC64NVME'])
const NOISE = randomBytes(1024 * 1024)

/** So many bytes that no other body has. */
function bodyOf(bytes: number): Buffer {
  const body = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at += NOISE.length) NOISE.copy(body, at)
  randomBytes(Math.min(bytes, 16)).copy(body)
  return body
}

function openThread(options: { program?: URL; setTimer?: typeof systemClock.setTimer } = {}) {
  const lines: string[] = []
  const marks = createMarks()
  const { setTimer = systemClock.setTimer, ...given } = options
  const log = createLogger('test', { write: (line) => void lines.push(line) })
  const thread = createSumThread({ marks, hashers, clock: { setTimer }, log, ...given })
  return { thread, marks, lines }
}

function createPayer() {
  const owner: MarkOwner = { cpuNs: 0 }
  let claims = 0
  let claimedNs = 0
  return {
    owner,
    claims: () => claims,
    claimedNs: () => claimedNs,
    claimThread(joined: JoinedThread, cpuNs: number) {
      claims++
      claimedNs += cpuNs
      joined.claim(owner, cpuNs)
    },
  }
}

type Opened = ReturnType<typeof openThread>

/** Gives a body in pieces; other bodies get their turn after each. */
async function sumBody(
  { thread }: Opened,
  body: Buffer,
  { piece = 65_536, payer = createPayer() } = {},
) {
  const summing = thread.open(MD5_AND_CRC, payer)
  try {
    for (let at = 0; at < body.length; at += piece) {
      await summing.update(body.subarray(at, at + piece))
      await turn()
    }
    return await summing.digest()
  } finally {
    await summing.drop()
  }
}

async function inLine(body: Buffer) {
  const summing = await sumInLine(hashers, MD5_AND_CRC)
  void summing.update(body)
  return await summing.digest()
}

type Payer = ReturnType<typeof createPayer>

/**
 * Marks until all claims are paid. CPU that the process's clock showed before the thread counted it went to the payer
 * who marked then, and is made up for from later CPU: a claim may be paid late.
 */
function payAll({ marks }: Opened, payers: readonly Payer[]): void {
  const isOwed = ({ owner, claimedNs }: Payer) => owner.cpuNs < claimedNs()
  const untilNs = marks.totalNs + 2e9
  while (payers.some(isOwed) && marks.totalNs < untilNs) marks.mark(marks.operator)
}

/** Faults of eight bodies that are summed at once: their sums, or their payers. */
async function faultsOf(opened: Opened): Promise<string[]> {
  const faults: string[] = []
  await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const body = bodyOf(4 * BATCH_BYTES + 1 + index * 10_000)
      const payer = createPayer()
      const sums = await sumBody(opened, body, { piece: 40_000 + index, payer })
      payAll(opened, [payer])
      if (sums.get('MD5')?.toString('hex') !== hash('md5', body)) faults.push('md5')
      if (!sums.get('CRC64NVME')?.equals((await inLine(body)).get('CRC64NVME') ?? NOISE))
        faults.push('crc')
      if (payer.claims() !== 5) faults.push('claims')
      // MD5 of 1 MiB takes 2 ms on the machine that this was made on.
      if (payer.owner.cpuNs < 100_000) faults.push('unpaid')
    }),
  )
  return faults
}

/** The real program, and something wrong with the messages that it gets or sends. */
const plantedProgram = (plant: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from 'node:worker_threads'
      const listen = parentPort.on.bind(parentPort)
      const send = parentPort.postMessage.bind(parentPort)
      ${plant}
      await import(${JSON.stringify(new URL('./sum-worker.ts', import.meta.url).href)})
    `)}`,
  )
const PLANTS = {
  'batches that change places': `
    const seen = new Map(), held = new Map()
    parentPort.on = (name, listener) => listen(name, (message) => {
      const { body, slab, length } = message
      seen.set(body, (seen.get(body) ?? 0) + 1)
      if (seen.get(body) === 2) return void held.set(body, message)
      if (seen.get(body) !== 3) return listener(message)
      listener(message)
      listener(held.get(body))
    })`,
  'batches that are taken for those of another body': `
    let body
    parentPort.on = (name, listener) => listen(name, (message) => {
      if (message.open !== undefined) body = message.body
      listener(message.open !== undefined || message.isLast ? message : { ...message, body })
    })`,
  'a lost batch': `
    parentPort.on = (name, listener) => listen(name, (message) =>
      listener(message.isLast ? { ...message, length: 0 } : message))`,
  'CPU that is not claimed': `
    parentPort.postMessage = (summed, lent) => send({ ...summed, cpuNs: 0 }, lent)`,
}

test('bodies that are summed at once get their own sums, and pay each for theirs', async () => {
  assert.deepEqual(await faultsOf(openThread()), [])
})

for (const [name, plant] of Object.entries(PLANTS))
  test(`a planted fault of the checksum thread is found: ${name}`, async () => {
    assert.notDeepEqual(await faultsOf(openThread({ program: plantedProgram(plant) })), [])
  })

test('a body of any size around a batch has the sums of one pass, however it is cut', async () => {
  const opened = openThread()
  const sizes = [0, 1, 65_536, 3 * BATCH_BYTES + 7]
  for (const batches of [1, 2, 4]) sizes.push(batches * BATCH_BYTES - 1, batches * BATCH_BYTES)
  for (const size of [...sizes, BATCH_BYTES + 1, 2 * BATCH_BYTES + 1])
    for (const piece of [60_001, BATCH_BYTES, 3 * BATCH_BYTES + 1]) {
      const body = bodyOf(size)
      assert.deepEqual(await sumBody(opened, body, { piece }), await inLine(body), `${size}`)
    }
})

test('all CPU of the process is somebody’s, and a neighbour pays nothing of what is summed', async () => {
  const opened = openThread()
  const { marks } = opened
  const payers = Array.from({ length: 4 }, createPayer)
  await sumBody(opened, bodyOf(2 * BATCH_BYTES))
  const neighbour: MarkOwner = { cpuNs: 0 }
  marks.mark(marks.operator)
  await Promise.all(payers.map((payer) => sumBody(opened, bodyOf(32 * BATCH_BYTES), { payer })))
  marks.mark(marks.operator)
  marks.mark(neighbour)
  const paid = payers.map(({ owner }) => owner.cpuNs)
  const sum = paid.reduce((total, cpuNs) => total + cpuNs, marks.operator.cpuNs + neighbour.cpuNs)
  assert.ok(sum <= marks.totalNs)
  // The kernel rounds user and system time down by themselves.
  for (const { owner, claimedNs } of payers)
    assert.ok(owner.cpuNs <= claimedNs() && owner.cpuNs >= claimedNs() - 10_000)
  assert.ok(neighbour.cpuNs < Math.min(...paid), `${neighbour.cpuNs} of ${paid.join(' ')}`)
})

test('a body that is given up pays for what was summed of it, and leaves no slab taken', async () => {
  const opened = openThread()
  const payers = Array.from({ length: 20 }, createPayer)
  for (const payer of payers) {
    const summing = opened.thread.open(MD5, payer)
    await summing.update(bodyOf(3 * BATCH_BYTES + 1))
    await summing.drop()
    assert.equal(payer.claims(), 3)
  }
  payAll(opened, payers)
  for (const { owner, claimedNs } of payers) assert.equal(owner.cpuNs, claimedNs())
  // MD5 of 15 MiB.
  assert.ok(payers.reduce((sum, { claimedNs }) => sum + claimedNs(), 0) > 1_000_000)
  const body = bodyOf(20 * BATCH_BYTES)
  assert.deepEqual(await sumBody(opened, body), await inLine(body))
})

test('a body waits while too much of it is still to be summed', async () => {
  // A thread that never answers.
  const program = new URL('data:text/javascript,setInterval(()=>undefined,1e6)')
  let end: (() => void) | undefined
  const opened = openThread({ program, setTimer: (_, fire) => ((end = fire), () => undefined) })
  const one = opened.thread.open(MD5, createPayer())
  let given = 0
  const giving = (async () => {
    for (; given < 100; given++) await one.update(bodyOf(BATCH_BYTES))
  })()
  const others = Array.from({ length: 8 }, () => sumBody(opened, bodyOf(9 * BATCH_BYTES)))
  const failures = Promise.allSettled([giving, ...others])
  // Enough turns for everything that can go on without an answer.
  for (let i = 0; i < 1000; i++) await turn()
  assert.ok(given <= 5, `${given} batches were taken`)
  assert.ok(end)
  end()
  for (const outcome of await failures) assert.equal(outcome.status, 'rejected')
  assert.match(opened.lines.join(), /silent/)
  await one.drop()
})

test('bodies fail with 503 when the thread dies, and the next gets a new one', async () => {
  const program = plantedProgram(`
    let batches = 0
    parentPort.on = (name, listener) => listen(name, (message) => {
      if (++batches === 7) throw new TypeError('planted')
      listener(message)
    })`)
  const opened = openThread({ program })
  const payers = Array.from({ length: 6 }, createPayer)
  const outcomes = await Promise.allSettled(
    payers.map((payer) => sumBody(opened, bodyOf(4 * BATCH_BYTES), { payer })),
  )
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      assert.equal((outcome.reason as { code?: unknown }).code, 'ServiceUnavailable')
  assert.ok(outcomes.some(({ status }) => status === 'rejected'))
  assert.match(opened.lines.join(), /planted/)
  const body = bodyOf(3 * BATCH_BYTES)
  assert.deepEqual(await sumBody(opened, body), await inLine(body))
  opened.marks.mark(opened.marks.operator)
  const { marks } = opened
  const paid = payers.reduce((total, { owner }) => total + owner.cpuNs, marks.operator.cpuNs)
  assert.ok(paid <= marks.totalNs)
})

test('a program that cannot be loaded is a fault of the request, not of the process', async () => {
  const opened = openThread({
    program: new URL('./no-such-file.ts', import.meta.url),
  })
  for (let round = 0; round < 2; round++)
    await assert.rejects(sumBody(opened, bodyOf(2 * BATCH_BYTES)), { code: 'ServiceUnavailable' })
})
