// Keeps a certificate for each name of routes: ordered when the name is new, and again after two thirds of its life.
import { isIP } from 'node:net'
import { sleep, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { unlessAborted } from '#base/unless-aborted.ts'
import type { CertificateContexts } from '#ingress/certificates/contexts.ts'
import type { Pair } from '#node/certificate-pair.ts'
import { fitsClock, isDue, validityOf, type Validity } from './validity.ts'
import type { KeptCertificates } from './kept-certificates.ts'
import { createOrdersOfHour, type DueName, type OrdersOfHour } from './orders-of-hour.ts'
import { AuthorityAway, type Orders } from './orders.ts'
import { awayWaits, type Waits } from './waits.ts'

export type CertifiedDeps = {
  /** The names of routes now, with the account that has each. */
  readonly hosts: () => Iterable<readonly [host: string, account: string]>
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
/** Unanswered names in a row after which the authority counts as away for all. */
const AWAY_NAMES = 3
const AWAY_MS = 60_000
const AWAY_MS_MAX = 900_000
const ALARM_AFTER = 3

/** Until the signal aborts. Never rejects. */
export async function keepCertified(deps: CertifiedDeps, signal: AbortSignal): Promise<void> {
  const { log, lookMs = LOOK_MS } = deps
  let held: CertifyState | undefined
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

type CertifyState = {
  /** Of the certificates that are there. */
  readonly lives: Map<string, Validity>
  /** Names for which the authority did not answer. */
  readonly away: Waits
  readonly ofHour: OrdersOfHour
}

/** Serves the certificates of before. */
function takeKept({ kept, contexts }: CertifiedDeps): CertifyState {
  const pairs = kept.all()
  for (const [host, pair] of pairs) contexts.take({ host, pair })
  const lives = new Map([...pairs].map(([host, { cert }]) => [host, validityOf(cert)]))
  return { lives, away: awayWaits(), ofHour: createOrdersOfHour() }
}

/** One order after the other. True when the authority is away. */
async function orderDue(
  deps: CertifiedDeps,
  held: CertifyState,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = deps
  const { lives, away, ofHour } = held
  forgetEnded(deps, lives)
  for (let awayNames = 0; awayNames < AWAY_NAMES;) {
    // Names that came or failed meanwhile count.
    const next = signal.aborted ? undefined : ofHour.take(dueNames(deps, held), clock.wallMs())
    if (next === undefined) return false
    const { host } = next
    const life = await order(host, deps, signal)
    if (life === 'away') {
      away.fail(host, clock.wallMs())
      awayNames++
      continue
    }
    awayNames = 0
    away.forget(host)
    if (life !== undefined) lives.set(host, life)
  }
  return true
}

/** Removes certificates that have ended, of names that no route has. */
function forgetEnded(
  { hosts, kept, contexts, clock }: CertifiedDeps,
  lives: CertifyState['lives'],
): void {
  const wanted = new Map(hosts())
  for (const [host, { toMs }] of lives)
    if (!wanted.has(host) && clock.wallMs() > toMs) {
      lives.delete(host)
      kept.remove(host)
      contexts.take({ host, pair: null })
    }
}

function* dueNames(
  { hosts, isCovered, waits, clock }: CertifiedDeps,
  { lives, away }: CertifyState,
): Iterable<DueName> {
  const nowMs = clock.wallMs()
  const isWaiting = (host: string) =>
    waits.of(host, nowMs) !== undefined || away.of(host, nowMs) !== undefined
  for (const [host, account] of hosts()) {
    if (!isOrdered(host) || isCovered(host) || isWaiting(host)) continue
    const life = lives.get(host)
    if (life === undefined || isDue(life, nowMs))
      yield { host, account, isRenewal: life !== undefined }
  }
}

/** Names that an authority of the Internet could know. */
const isOrdered = (host: string): boolean =>
  host.includes('.') && isIP(host) === 0 && !/(?:^|\.)localhost$/.test(host)

async function order(
  host: string,
  deps: CertifiedDeps,
  signal: AbortSignal,
): Promise<Validity | 'away' | undefined> {
  const { orders, contexts, waits, clock, log } = deps
  try {
    // An order that was begun goes on to its own limits.
    const pair = await unlessAborted(orders.order(host), signal)
    const life = validityOf(pair.cert)
    contexts.take({ host, pair })
    keep(host, pair, deps)
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

/** One that is not kept serves until the process ends. */
function keep(host: string, pair: Pair, { kept, log }: CertifiedDeps): void {
  try {
    kept.write(host, pair)
  } catch (error) {
    log.error('A certificate cannot be kept', { host, error: messageOf(error) })
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
