// Limits: webhooks.
import * as webhooks from '#contract/webhooks/webhooks.ts'
import { ACCOUNT_AT_ONCE } from '#webhooks/delivery/dispatcher.ts'
import { AT_ONCE_MAX } from '#webhooks/delivery/lane.ts'
import { DELAYS_MS } from '#webhooks/delivery/schedule.ts'
import { ATTEMPT_MS } from '#webhooks/delivery/send.ts'
import { code, count, seconds, words, type LimitSection } from './limit.ts'

export const WEBHOOKS: LimitSection = {
  title: 'Webhooks',
  limits: [
    ['endpoints of an account', count(webhooks.WEBHOOKS_MAX), code('too_many_webhooks')],
    ['events of an endpoint', count(webhooks.WEBHOOK_EVENTS_MAX), code('invalid_request')],
    ['length of a url', count(webhooks.WEBHOOK_URL_MAX), code('invalid_request')],
    ['events of a replay', count(webhooks.WEBHOOK_REPLAY_MAX), words('`has_more`')],
    ['time for an attempt', seconds(ATTEMPT_MS), words('the attempt has failed')],
    ['attempts of a delivery', count(DELAYS_MS.length), words('it is dead; `webhook replay`')],
    ['attempts at once, of an endpoint', count(AT_ONCE_MAX), words('the others wait')],
    ['attempts at once, of an account', count(ACCOUNT_AT_ONCE), words('the others wait')],
  ],
}
