// The bill of deletions of a thousand keys against the CPU of all cells while they run: never above it, and not further below
// than the band on the charges says. The keys are absent and their bucket has versions, so each key gets a delete marker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3'
import type { Charge } from '#contract/ledger/charge.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import { PLAIN } from '../settings.ts'
import { cellsMs, restOf, secondsOf, type RestCpu } from './caused-cpu.ts'
import { spanOf, type Span } from './energy-span.ts'

product(PLAIN)

const Bucket = 'caused-deletes'
const KEYS = 1000
/** Rates are sums over five seconds: three of them are over. */
const LEARN_MS = 20_000
const MEASURE_MS = 12_000
/** A machine with other work learns later. */
const SPANS_MAX = 3

/** Time without requests, in which the CPU of cells at rest is measured. */
const REST_MS = 8000

/** CPU in milliseconds: of the bill, of all cells, and of cells at rest in a span of the same length. */
type Bill = Readonly<Record<'billedMs' | 'causedMs' | 'restMs' | 'bandPct', number>>

function billOf({ windows, charges }: Pick<Span, 'windows' | 'charges'>, rest: RestCpu): Bill {
  const parts = charges.flatMap(({ parts: of }: Charge) => of)
  const energyNj = parts.reduce((sum, { energy_nj }) => sum + Number(energy_nj), 0)
  const weight = parts.reduce(
    (sum, part) => sum + Number(part.energy_nj) * Number(part.band_pct),
    0,
  )
  return {
    billedMs: windows.reduce((sum, { chargedNs }) => sum + Number(chargedNs) / 1e6, 0),
    causedMs: cellsMs(windows),
    restMs: rest.msPerS * secondsOf(windows),
    bandPct: weight / energyNj,
  }
}

/** Why a bill is wrong, in words; undefined where it is right. */
function faultOf({ billedMs, causedMs, restMs, bandPct }: Bill): string | undefined {
  const [billed, caused, rest] = [billedMs, causedMs, restMs].map((ms) => ms.toFixed(0))
  const facts = `${billed} of ${caused} ms, at rest ${rest}, band ${bandPct.toFixed(0)} %`
  if (billedMs > causedMs) return `more than was caused: ${facts}`
  const isBelow = causedMs - restMs > billedMs * (1 + bandPct / 100)
  return isBelow ? `below its band: ${facts}` : undefined
}

test('deletions of a thousand keys are billed in the band of the CPU that they cause', async (t) => {
  const ergon = sharedErgon()
  const s3 = s3ClientOf(ergon)
  t.after(() => s3.destroy())
  await s3.send(new CreateBucketCommand({ Bucket }))
  await s3.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  )
  let batch = 0
  const deleteFor = async (ms: number) => {
    for (const endMs = performance.now() + ms; performance.now() < endMs;) {
      batch++
      const Objects = Array.from({ length: KEYS }, (_, nth) => ({ Key: `key-${batch}-${nth}` }))
      const { Deleted = [], Errors = [] } = await s3.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
      )
      assert.deepEqual([Deleted.length, Errors], [KEYS, []])
    }
  }
  const rest = restOf((await spanOf(ergon, () => pause(REST_MS))).windows)
  await spanOf(ergon, () => deleteFor(LEARN_MS))
  let fault: string | undefined = 'not measured'
  for (let span = 0; span < SPANS_MAX && fault !== undefined; span++) {
    const bill = billOf(await spanOf(ergon, () => deleteFor(MEASURE_MS)), rest)
    t.diagnostic(JSON.stringify(bill))
    // More than was caused is a fault at once.
    fault = faultOf(bill)
    assert.doesNotMatch(fault ?? '', /more than/)
  }
  assert.equal(fault, undefined)
})

test('planted: a batch that is billed as one key, or twice, is outside of its band', () => {
  const [causedMs, restMs, bandPct] = [4000, 500, 45]
  assert.match(faultOf({ billedMs: 40, causedMs, restMs, bandPct }) ?? '', /below its band/)
  assert.match(faultOf({ billedMs: 8000, causedMs, restMs, bandPct }) ?? '', /more than was caused/)
  assert.equal(faultOf({ billedMs: 3500, causedMs, restMs, bandPct }), undefined)
})
