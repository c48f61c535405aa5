// Limits: the portal.
import * as portal from '#contract/portal/portal.ts'
import {
  BROWSER_SESSIONS_MAX,
  SESSION_DAYS_MAX,
  SESSION_IDLE_HOURS,
  TOUCH_MINUTES,
} from '#identity/browser-sessions.ts'
import { PACE_PER_MINUTE } from '#portal/pace.ts'
import { SIGN_UPS_PER_DAY } from '#portal/sign-up-pace.ts'
import { WAITING } from '#portal/waiting.ts'
import { code, count, words, type Limit, type LimitSection } from './limit.ts'

export const PORTAL_LIMITS: LimitSection = {
  title: 'The portal',
  limits: [
    ['passkeys of a member', count(portal.PASSKEYS_MAX), code('too_many_passkeys')],
    ['transports of a passkey', count(portal.PASSKEY_TRANSPORTS_MAX), code('invalid_request')],
    ['recovery codes of a member', count(portal.RECOVERY_CODES), words('new ones replace them')],
    ['sessions of a member', count(BROWSER_SESSIONS_MAX), words('another one ends the oldest')],
    ['hours of a session without a request', count(SESSION_IDLE_HOURS), code('session_ended')],
    ['days of a session', count(SESSION_DAYS_MAX), code('session_ended')],
    ['minutes of a fresh touch', count(TOUCH_MINUTES), code('touch_required')],
    [
      'minutes in which a passkey that was asked for is used',
      count(portal.CHALLENGE_MINUTES),
      code('challenge_ended'),
    ],
    [
      'minutes in which a device or a command line is approved',
      count(portal.APPROVAL_MINUTES),
      code('login_not_found'),
    ],
    ...(
      [
        ['questions for a passkey', PACE_PER_MINUTE.options],
        ['answers of passkeys', PACE_PER_MINUTE.passkeys],
        ['recovery codes that are tried', PACE_PER_MINUTE.codes],
        ['requests of logins of command lines', PACE_PER_MINUTE.logins],
      ] as const
    ).map(([what, perMinute]): Limit => [
      `${what} from one address in a minute, at each gateway`,
      count(perMinute),
      code('rate_limit_exceeded'),
    ]),
    ...(
      [
        ['passkeys that wait for their use', WAITING.passkeys],
        ['logins of command lines that wait', WAITING.logins],
      ] as const
    ).flatMap(([what, { network, all }]): Limit[] => [
      [
        `${what}, of a network of 24 bits (IPv6: of 48)`,
        count(network),
        code('rate_limit_exceeded'),
      ],
      [`${what}, of all networks`, count(all), code('overloaded')],
    ]),
    [
      'accounts that a network of 24 bits (IPv6: of 48) makes in a day of UTC, where `ERGON_SIGN_UP` is `open` for other machines than this one',
      count(SIGN_UPS_PER_DAY),
      code('rate_limit_exceeded'),
    ],
    [
      'passkeys that wait for their use, of a session',
      count(WAITING.passkeys.session),
      code('rate_limit_exceeded'),
    ],
  ],
}
