// Certificates of an authority in the ingress. A failure here leaves requests alone.
import { join } from 'node:path'
import { systemClock, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { createContexts, type CertificateContexts } from '#ingress/certificates/contexts.ts'
import type { RouteTable } from '#ingress/routes.ts'
import { raiseAlarm } from '#state/alarms.ts'
import type { State } from '#state/connect.ts'
import type { AcmeSettings } from './acme-settings.ts'
import { createChallengePages, type ChallengePages } from './challenge-pages.ts'
import { keepCertified, type CertifiedDeps } from './keep-certified.ts'
import { keepCertificates } from './kept-certificates.ts'
import { newAccountKey, openOrders } from './orders.ts'
import { openWaits } from './waits.ts'

export type Acme = {
  readonly challenges: Pick<ChallengePages, 'answered'>
  readonly contexts: Pick<CertificateContexts, 'of'>
  /** Resolves when it has ended, after the signal. */
  readonly ended: Promise<void>
}

export function startAcme(
  settings: AcmeSettings,
  {
    folder,
    routes,
    covered,
    alarm,
    log,
    clock = systemClock,
    lookMs,
  }: Pick<CertifiedDeps, 'alarm' | 'lookMs'> & {
    readonly folder: string
    readonly routes: Pick<RouteTable, 'hosts'>
    /** Certificates of files, which go first. */
    readonly covered: Pick<CertificateContexts, 'of'>
    readonly log: Logger
    readonly clock?: Pick<Clock, 'wallMs'>
  },
  signal: AbortSignal,
): Acme {
  const challenges = createChallengePages()
  const contexts = createContexts(log)
  const run = async (): Promise<void> => {
    const kept = keepCertificates(folder, log)
    const accountKey = await kept.accountKey(newAccountKey)
    await keepCertified(
      {
        hosts: () => routes.hosts(),
        isCovered: (host) => covered.of(host) !== undefined,
        orders: await openOrders(settings, { accountKey, challenges }),
        kept,
        waits: openWaits(join(folder, 'waits.list')),
        contexts,
        alarm,
        clock,
        log,
        ...(lookMs !== undefined && { lookMs }),
      },
      signal,
    )
  }
  const ended = run().catch((error: unknown) =>
    log.error('No certificates are ordered', { error: messageOf(error) }),
  )
  return { challenges, contexts, ended }
}

/** Stores the alarm of a name once. */
export const alarmOf =
  (state: State, log: Logger): CertifiedDeps['alarm'] =>
  async (detail) => {
    const key = String(detail['host'])
    await raiseAlarm(state, 'route_certificate_not_ordered', detail, { key }).catch(
      (error: unknown) => log.warn('An alarm is not stored', { error: messageOf(error) }),
    )
  }
