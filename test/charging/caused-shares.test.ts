// The billed part of the CPU that requests cause, for each kind of request: of the CPU of all cells while clients
// ask, less their CPU at rest before and after (caused-cpu.ts). ERGON_LONG=1 asks for 40 s of each and requires 95 to 100 %,
// as far as the reference is known.
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
import type { MeterWindow } from '#metering/window.ts'
import { causedBy, restBetween, restOf, type RestCpu } from './caused-cpu.ts'
import { spanOf } from './energy-span.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { CHAT, EMBEDDING, MODELS } from '../settings.ts'

product(MODELS)

const IS_LONG = process.env['ERGON_LONG'] === '1'
// Rates are sums over five seconds: the first one must be over.
const LEARN_MS = IS_LONG ? 20_000 : 7000
const MEASURE_MS = IS_LONG ? 40_000 : 2000
/** Seals, commits and vacuums that a load has left are over. */
const SETTLE_MS = 10_000
const REST_MS = 20_000
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

const chargedMs = (windows: readonly MeterWindow[]): number =>
  windows.reduce((sum, { chargedNs }) => sum + Number(chargedNs) / 1e6, 0)
const learnedNj = (charges: readonly Charge[]): bigint =>
  charges
    .flatMap(({ parts }) => parts)
    .reduce(
      (sum, { method, energy_nj }) => (method === LEARNED ? sum + BigInt(energy_nj) : sum),
      0n,
    )

type Share = { readonly pct: number; readonly errorPct: number }

/** A measured load, whose reference needs the rest after it too. */
type Measured = {
  readonly windows: readonly MeterWindow[]
  readonly chargedMs: number
  readonly learnedPct: number
  readonly charges: number
}

async function measured(name: string, work: () => Promise<void>): Promise<Measured> {
  const { windows, charges, billedNj } = await spanOf(ergon, work)
  assert.equal(
    windows.reduce((sum, { accruedNj }) => sum + accruedNj, 0n),
    billedNj,
  )
  const learnedPct = (100 * Number(learnedNj(charges))) / Number(billedNj)
  assert.ok(learnedPct > 0, `${name}: ${learnedPct} % of the bill is learned`)
  return { windows, chargedMs: chargedMs(windows), learnedPct, charges: charges.length }
}

/** The charged percentage of the CPU that the work causes in all cells. */
function shareOf(t: TestContext, name: string, load: Measured, rest: RestCpu): Share {
  const { ms, errorMs } = causedBy(load.windows, rest)
  const pct = (100 * load.chargedMs) / ms
  const errorPct = (pct * errorMs) / ms
  t.diagnostic(
    `${name}: ${load.charges} charges have ${pct.toFixed(1)} ± ${errorPct.toFixed(1)} % of ${ms.toFixed(0)} ms; ` +
      `of the bill ${load.learnedPct.toFixed(1)} % is learned; rest ${rest.msPerS.toFixed(1)} ± ${rest.errorMsPerS.toFixed(1)} ms/s`,
  )
  return { pct, errorPct }
}

const NO_REST: RestCpu = { msPerS: 0, errorMsPerS: 0 }

async function measureRest(): Promise<RestCpu> {
  if (!IS_LONG) return NO_REST
  await pause(SETTLE_MS)
  return restOf((await spanOf(ergon, () => pause(REST_MS))).windows)
}

test('what requests cause in other cells is on their bills', async (t) => {
  const s3 = s3ClientOf(ergon)
  await s3.send(new CreateBucketCommand({ Bucket }))
  const asks = kinds()
  for (let turn = 0; turn < KEYS; turn++) await asks['storage.put-object']?.(turn)
  const faults: string[] = []
  // In a product that has just begun all becomes cheaper by the second, and what was learned follows.
  const [least, most] = IS_LONG ? [95, 100] : [40, 120]
  const isRight = ({ pct, errorPct }: Share) => pct + errorPct >= least && pct - errorPct <= most
  let before = await measureRest()
  for (const [operation, ask] of Object.entries(asks).slice(0, IS_LONG ? undefined : 1))
    for (const clients of IS_LONG ? [1, 8] : [1]) {
      const name = `${operation}, ${clients} at once`
      let share: Share = { pct: NaN, errorPct: NaN }
      for (let span = 0; span < SPANS_MAX && !isRight(share); span++) {
        await askFor(LEARN_MS, clients, ask)
        const load = await measured(name, () => askFor(MEASURE_MS, clients, ask))
        const after = await measureRest()
        share = shareOf(t, name, load, restBetween(before, after))
        before = after
      }
      if (!isRight(share))
        faults.push(`${name}: ${share.pct.toFixed(1)} ± ${share.errorPct.toFixed(1)} %`)
    }
  assert.deepEqual(faults, [])
})
