// The parts that the portal's operations share.
import type { Clock } from '#base/clock.ts'
import type { State } from '#state/connect.ts'
import type { Challenges } from './challenges.ts'
import type { Cookies } from './cookies.ts'
import type { PortalOrigin } from './origin.ts'
import type { SignUpRule } from './settings.ts'
import type { StrangerPace } from './pace.ts'
import type { WebAuthn } from './webauthn.ts'

export type PortalParts = {
  readonly state: State
  readonly clock: Pick<Clock, 'wallMs'>
  readonly origin: PortalOrigin
  readonly cookies: Cookies
  readonly challenges: Challenges
  readonly webauthn: WebAuthn
  readonly pace: StrangerPace
  readonly signUp: SignUpRule
  /** The kind of money of new accounts. */
  readonly env: 'live' | 'test'
}

/** The parts of the operations that a command line asks at the API. */
export type LoginParts = Pick<PortalParts, 'state' | 'pace' | 'clock'> & {
  /** Undefined where the service has no portal. */
  readonly portalUrl: string | undefined
  /** All ports of the installation. */
  readonly ownPorts: readonly number[]
}
