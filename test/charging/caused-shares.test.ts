// The billed part of the CPU that requests cause, for each kind of request: of the CPU of all cells while clients
// ask, less their CPU at rest. ERGON_LONG=1 asks for a minute and requires 95 to 100 %.
import assert from 'node:assert/strict'
import { before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { LEARNED, type Charge } from '#contract/charge.ts'
import { REST, type MeterWindow } from '#metering/window.ts'
import { spanOf } from './energy-span.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { CHAT, EMBEDDING, MODELS } from '../settings.ts'

product(MODELS)

const IS_LONG = process.env['ERGON_LONG'] === '1'
// Rates are sums over five seconds: the first one must be over.
const LEARN_MS = IS_LONG ? 20_000 : 7000
const MEASURE_MS = IS_LONG ? 60_000 : 2000
const REST_MS = 30_000
/** A machine with other work learns later. */
const SPANS_MAX = IS_LONG ? 1 : 4
// The short form shows that the rates are learned and billed: some 50 requests a second do that.
const PAUSE_MS = IS_LONG ? 0 : 15
const KEYS = 100
const Bucket = 'caused-shares'

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await ergon.waitForModel(CHAT)
  await ergon.waitForModel(EMBEDDING)
})

const kinds = (): Readonly<Record<string, (turn: number) => Promise<unknown>>> => {
  const s3 = s3ClientOf(ergon)
  const Body = Buffer.alloc(4096, 1)
  return {
    'storage.put-object': (turn) =>
      s3.send(new PutObjectCommand({ Bucket, Key: `key-${turn % KEYS}`, Body })),
    'storage.get-object': async (turn) => {
      const answer = await s3.send(new GetObjectCommand({ Bucket, Key: `key-${turn % KEYS}` }))
      await answer.Body?.transformToByteArray()
    },
    'storage.list-objects-v2': () => s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 100 })),
    'storage.delete-objects': (turn) => {
      const length = turn % 4 === 0 ? 1000 : 1
      const Objects = Array.from({ length }, (_, nth) => ({ Key: `none-${turn}-${nth}` }))
      return s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    },
    'embedding.create': (turn) => post('embeddings', { model: EMBEDDING, input: `fox ${turn}` }),
    'chat.create': () =>
      post('chat/completions', {
        model: CHAT,
        max_tokens: 8,
        messages: [{ role: 'user', content: 'Say something of bread.' }],
      }),
  }
}

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(`${ergon.baseUrl}/v1/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ergon.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  assert.equal(response.status, 200)
}

/** Clients that ask one request after the other. */
async function askFor(ms: number, clients: number, ask: (turn: number) => Promise<unknown>) {
  const untilMs = performance.now() + ms
  let turn = 0
  const client = async () => {
    while (performance.now() < untilMs) {
      await ask(turn++)
      if (PAUSE_MS > 0) await pause(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** CPU of all cells, in milliseconds. */
const cellsMs = (windows: readonly MeterWindow[]): number =>
  windows
    .flatMap(({ shares }) => shares)
    .reduce((sum, { name, cpuNs }) => (name === REST ? sum : sum + Number(cpuNs) / 1e6), 0)
const seconds = (windows: readonly MeterWindow[]): number =>
  windows.reduce((sum, { elapsedNs }) => sum + Number(elapsedNs) / 1e9, 0)
const chargedMs = (windows: readonly MeterWindow[]): number =>
  windows.reduce((sum, { chargedNs }) => sum + Number(chargedNs) / 1e6, 0)
const learnedNj = (charges: readonly Charge[]): bigint =>
  charges
    .flatMap(({ parts }) => parts)
    .reduce(
      (sum, { method, energy_nj }) => (method === LEARNED ? sum + BigInt(energy_nj) : sum),
      0n,
    )

/** The charged percentage of the CPU that the work causes in other cells. */
async function shareOf(
  t: TestContext,
  name: string,
  restMsPerS: number,
  work: () => Promise<void>,
): Promise<number> {
  const { windows, charges, billedNj } = await spanOf(ergon, work)
  const causedMs = cellsMs(windows) - restMsPerS * seconds(windows)
  const share = (100 * chargedMs(windows)) / causedMs
  const learned = (100 * Number(learnedNj(charges))) / Number(billedNj)
  t.diagnostic(
    `${name}: ${charges.length} charges have ${share.toFixed(1)} % of ${causedMs.toFixed(0)} ms; ` +
      `of the bill ${learned.toFixed(1)} % is learned`,
  )
  assert.equal(
    windows.reduce((sum, { accruedNj }) => sum + accruedNj, 0n),
    billedNj,
  )
  assert.ok(learned > 0, `${name}: ${learned} %`)
  return share
}

test('what requests cause in other cells is on their bills', async (t) => {
  const s3 = s3ClientOf(ergon)
  await s3.send(new CreateBucketCommand({ Bucket }))
  const asks = kinds()
  for (let turn = 0; turn < KEYS; turn++) await asks['storage.put-object']?.(turn)
  let restMsPerS = 0
  if (IS_LONG) {
    const { windows } = await spanOf(ergon, () => pause(REST_MS))
    restMsPerS = cellsMs(windows) / seconds(windows)
  }
  const faults: string[] = []
  for (const [operation, ask] of Object.entries(asks).slice(0, IS_LONG ? undefined : 1))
    for (const clients of IS_LONG ? [1, 8] : [1]) {
      let share = NaN
      // In a product that has just begun all becomes cheaper by the second, and what was learned follows.
      const [least, most] = IS_LONG ? [95, 100] : [40, 120]
      for (let span = 0; span < SPANS_MAX && !(share >= least && share <= most); span++) {
        await askFor(LEARN_MS, clients, ask)
        share = await shareOf(t, `${operation}, ${clients} at once`, restMsPerS, () =>
          askFor(MEASURE_MS, clients, ask),
        )
      }
      if (share < least || share > most)
        faults.push(`${operation}, ${clients} at once: ${share.toFixed(1)} %`)
    }
  assert.deepEqual(faults, [])
})
