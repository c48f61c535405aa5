// Keeps a certificate for each name of routes: ordered when the name is new, and again after two thirds of its life.
import { isIP } from 'node:net'
import { sleep, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { CertificateContexts } from '#ingress/certificates/contexts.ts'
import { fitsClock, isDue, validityOf, type Validity } from './validity.ts'
import type { KeptCertificates } from './kept-certificates.ts'
import { AuthorityAway, type Orders } from './orders.ts'
import { awayWaits, type Waits } from './waits.ts'

export type CertifiedDeps = {
  /** The names of routes now. */
  readonly hosts: () => Iterable<string>
  /** True for names that have a certificate of another kind. */
  readonly isCovered: (host: string) => boolean
  readonly orders: Orders
  readonly kept: KeptCertificates
  readonly waits: Waits
  readonly contexts: CertificateContexts
  /** Tells the operator of a name that failed several times. */
  readonly alarm: (detail: Readonly<Record<string, unknown>>) => Promise<void>
  readonly clock: Pick<Clock, 'wallMs'>
  readonly log: Logger
  readonly lookMs?: number
}

const LOOK_MS = 5000
/** So many names in turn for which it does not answer: the authority is away for all. */
const AWAY_NAMES = 3
const AWAY_MS = 60_000
const AWAY_MS_MAX = 900_000
const ALARM_AFTER = 3
/** Let's Encrypt takes 300 orders of an account in three hours. */
const ORDERS_OF_HOUR_MAX = 90
const HOUR_MS = 3_600_000

/** Until the signal aborts. Never rejects. */
export async function keepCertified(deps: CertifiedDeps, signal: AbortSignal): Promise<void> {
  const { log, lookMs = LOOK_MS } = deps
  let held: Held | undefined
  let awayMs = 0
  while (!signal.aborted) {
    try {
      held ??= takeKept(deps)
      const isAway = await orderDue(deps, held, signal)
      awayMs = isAway ? Math.min(Math.max(awayMs * 2, AWAY_MS), AWAY_MS_MAX) : 0
    } catch (error) {
      log.error('Certificates are not ordered', { error: messageOf(error) })
    }
    await sleep(Math.max(awayMs, lookMs), signal).catch(() => undefined)
  }
}

type Held = {
  /** Of the certificates that are there. */
  readonly lives: Map<string, Validity>
  /** Names for which the authority did not answer. */
  readonly away: Waits
  /** When orders of the last hour began. */
  orderedMs: readonly number[]
}

/** Serves the certificates of before. */
function takeKept({ kept, contexts }: CertifiedDeps): Held {
  const pairs = kept.all()
  for (const [host, pair] of pairs) contexts.take({ host, pair })
  const lives = new Map([...pairs].map(([host, { cert }]) => [host, validityOf(cert)]))
  return { lives, away: awayWaits(), orderedMs: [] }
}

/** One order after the other. True when the authority is away. */
async function orderDue(deps: CertifiedDeps, held: Held, signal: AbortSignal): Promise<boolean> {
  const { hosts, kept, contexts, clock } = deps
  const { lives, away } = held
  let awayNames = 0
  const wanted = new Set([...hosts()].filter(isOrdered))
  for (const [host, { toMs }] of lives)
    if (!wanted.has(host) && clock.wallMs() > toMs) {
      lives.delete(host)
      kept.remove(host)
      contexts.take({ host, pair: null })
    }
  for (const host of wanted) {
    if (signal.aborted) return false
    if (!isNeeded(host, lives.get(host), deps)) continue
    const nowMs = clock.wallMs()
    if (away.of(host, nowMs) !== undefined) continue
    held.orderedMs = held.orderedMs.filter((atMs) => Math.abs(nowMs - atMs) < HOUR_MS)
    if (held.orderedMs.length >= ORDERS_OF_HOUR_MAX) return false
    held.orderedMs = [...held.orderedMs, nowMs]
    const life = await order(host, deps, signal)
    if (life === 'away') {
      away.fail(host, clock.wallMs())
      if (++awayNames === AWAY_NAMES) return true
      continue
    }
    awayNames = 0
    away.forget(host)
    if (life !== undefined) lives.set(host, life)
  }
  return false
}

/** Names that an authority of the Internet could know. */
const isOrdered = (host: string): boolean =>
  host.includes('.') && isIP(host) === 0 && !/(?:^|\.)localhost$/.test(host)

const isNeeded = (
  host: string,
  life: Validity | undefined,
  { isCovered, waits, clock }: CertifiedDeps,
): boolean => {
  const nowMs = clock.wallMs()
  if (isCovered(host) || waits.of(host, nowMs) !== undefined) return false
  return life === undefined || isDue(life, nowMs)
}

async function order(
  host: string,
  deps: CertifiedDeps,
  signal: AbortSignal,
): Promise<Validity | 'away' | undefined> {
  const { orders, kept, contexts, waits, clock, log } = deps
  try {
    const pair = await unlessAborted(orders.order(host), signal)
    const life = validityOf(pair.cert)
    kept.write(host, pair)
    contexts.take({ host, pair })
    if (fitsClock(life, clock.wallMs())) waits.forget(host)
    else await failed(host, clockReason(life, clock.wallMs()), deps)
    log.info('A certificate was ordered', { host, until: new Date(life.toMs).toISOString() })
    return life
  } catch (error) {
    if (signal.aborted) return undefined
    if (!(error instanceof AuthorityAway)) return void (await failed(host, messageOf(error), deps))
    log.warn('No certificate is ordered: the authority does not answer', {
      host,
      error: error.message,
    })
    return 'away'
  }
}

async function failed(host: string, reason: string, deps: CertifiedDeps): Promise<void> {
  const { waits, clock, log, alarm } = deps
  const { failures, untilMs } = waits.fail(host, clock.wallMs())
  const detail = { host, reason, failures, next_at: new Date(untilMs).toISOString() }
  log.warn('A certificate was not ordered', detail)
  if (failures >= ALARM_AFTER) await alarm(detail)
}

const clockReason = ({ fromMs, toMs }: Validity, nowMs: number): string =>
  `the new certificate is valid from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}, and here it is ${new Date(nowMs).toISOString()}: is the clock right`

/** An order that was begun goes on to its own limits; nobody waits for it. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error)
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
