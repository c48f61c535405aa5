// A window's bytes: record kind 2 of the journal. Canonical JSON (RFC 8785), every value text except the list of
// shares, so every later reader finds the same integers. Shares of 0 are left out.
import { fault } from '#contract/errors.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import { nj } from '#base/units.ts'
import type { EnergyMethod } from '#contract/ledger/charge.ts'
import { sumOfShares, type Share, type SharePayer, type MeterWindow } from './window.ts'

type ShareRecord = {
  readonly name: string
  readonly payer: SharePayer['kind']
  readonly account?: string
  readonly cpu_ns: string
  readonly dynamic_nj: string
  readonly idle_nj: string
}

export type WindowRecord = {
  readonly v: '1'
  readonly meter: string
  readonly k: string
  readonly elapsed_ns: string
  readonly busy_ns: string
  readonly reading_nj: string
  readonly idle_nj: string
  readonly method: EnergyMethod
  readonly band_pct: string
  readonly pue_milli: string
  readonly nj_per_cpu_s: string
  readonly charged_ns: string
  readonly accrued_nj: string
  readonly tariff_nj_per_cpu_s: string
  readonly fallback?: string
  readonly shares: readonly ShareRecord[]
}

export function windowBytes(window: MeterWindow): Buffer {
  const record: WindowRecord = {
    v: '1',
    meter: window.meter,
    k: String(window.k),
    elapsed_ns: String(window.elapsedNs),
    busy_ns: String(window.busyNs),
    reading_nj: String(window.readingNj),
    idle_nj: String(window.idleNj),
    method: window.method,
    band_pct: String(window.bandPct),
    pue_milli: String(window.pueMilli),
    nj_per_cpu_s: String(window.njPerCpuS),
    charged_ns: String(window.chargedNs),
    accrued_nj: String(window.accruedNj),
    tariff_nj_per_cpu_s: String(window.tariffNjPerCpuS),
    ...(window.fallback === undefined ? {} : { fallback: window.fallback }),
    shares: window.shares.filter(isSomething).map(shareRecord),
  }
  return Buffer.from(canonicalJson(record), 'utf8')
}

const isSomething = (share: Share) =>
  share.cpuNs !== 0n || share.dynamicNj !== 0n || share.idleNj !== 0n

const shareRecord = (share: Share): ShareRecord => ({
  name: share.name,
  payer: share.payer.kind,
  ...(share.payer.kind === 'account' ? { account: share.payer.account } : {}),
  cpu_ns: String(share.cpuNs),
  dynamic_nj: String(share.dynamicNj),
  idle_nj: String(share.idleNj),
})

/**
 * Reads window bytes and checks that the shares add up to the reading and the bytes are canonical.
 * Throws ErgonError `window_invalid`.
 */
export function parseWindow(bytes: Uint8Array): MeterWindow {
  let window: MeterWindow
  try {
    window = windowOf(JSON.parse(Buffer.from(bytes).toString('utf8')) as WindowRecord)
  } catch (cause) {
    throw invalid('not a window record', cause)
  }
  if (sumOfShares(window.shares) !== window.readingNj)
    throw invalid('the shares do not add up to the reading')
  if (Buffer.compare(windowBytes(window), bytes) !== 0) throw invalid('bytes are not canonical')
  return window
}

const windowOf = (record: WindowRecord): MeterWindow => ({
  meter: record.meter,
  k: Number(record.k),
  elapsedNs: BigInt(record.elapsed_ns),
  busyNs: BigInt(record.busy_ns),
  readingNj: nj(BigInt(record.reading_nj)),
  idleNj: nj(BigInt(record.idle_nj)),
  method: record.method,
  bandPct: Number(record.band_pct),
  pueMilli: BigInt(record.pue_milli),
  njPerCpuS: BigInt(record.nj_per_cpu_s),
  chargedNs: BigInt(record.charged_ns),
  accruedNj: nj(BigInt(record.accrued_nj)),
  tariffNjPerCpuS: BigInt(record.tariff_nj_per_cpu_s),
  ...(record.fallback === undefined ? {} : { fallback: record.fallback }),
  shares: record.shares.map((share) => ({
    name: share.name,
    payer: payerOf(share),
    cpuNs: BigInt(share.cpu_ns),
    dynamicNj: nj(BigInt(share.dynamic_nj)),
    idleNj: nj(BigInt(share.idle_nj)),
  })),
})

const payerOf = (share: ShareRecord): SharePayer =>
  share.payer === 'account'
    ? { kind: 'account', account: share.account ?? '' }
    : { kind: share.payer }

const invalid = (detail: string, cause?: unknown) =>
  fault('window_invalid', `Could not read the window: ${detail}`, {
    cause,
  })
