// Webhooks in a gateway: the API of endpoints, their log, and the events of an account. No request leaves from here.
import {
  parseWebhookChange,
  parseWebhookReplay,
  parseWebhookRequest,
  parseWebhookTest,
} from '#contract/webhooks/webhooks.ts'
import { recordsOf } from '#http/account-records.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { sqlIsoTime } from '#state/iso-time.ts'
import { findNamed } from '#http/find-named.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { webhookKeyOf } from './delivery/secrets.ts'
import { createEventList } from './operations/event-list.ts'
import { createWebhookCreate } from './operations/webhook-create.ts'
import { createWebhookDelete } from './operations/webhook-delete.ts'
import { createWebhookGet, createWebhookList } from './operations/webhook-get.ts'
import { createWebhookLog } from './operations/webhook-log.ts'
import { createWebhookReplay } from './operations/webhook-replay.ts'
import { createWebhookTest } from './operations/webhook-test.ts'
import { createWebhookRotate } from './operations/webhook-rotate.ts'
import { createWebhookUpdate } from './operations/webhook-update.ts'
import type { WebhooksGatewaySettings } from './settings.ts'

const WEBHOOKS_OF = `select id as place, id, masked_url(url) as url, description, events, status, reason, created_at
  from webhook_endpoints where account = $1 and id > $2 order by id limit $3`

const LIVE_WEBHOOKS = `select json_agg(json_build_object('id', e.id, 'status', e.status, 'failures', e.failures,
    'last_success_at', ${sqlIsoTime('e.succeeded_at')}, 'last_failure_at', ${sqlIsoTime('e.failed_at')}, 'last_error', e.last_error) order by e.id)
  from webhook_endpoints e where e.account = a.id`

export const WEBHOOKS_GATEWAY: GatewayProduct<WebhooksGatewaySettings> = { name: 'webhooks', open }

function open(
  { readers: state, secret }: GatewayCore,
  { isOn, ...places }: WebhooksGatewaySettings,
): GatewayPart {
  const key = webhookKeyOf(secret.reveal())
  const deps = { state, key, isOn, rule: createAddressRule(places.networks, places) }
  return {
    endpoints: {
      'webhook.create': { parse: parseWebhookRequest, handle: createWebhookCreate(deps) },
      'webhook.list': { handle: createWebhookList(deps) },
      'webhook.get': { handle: createWebhookGet(deps) },
      'webhook.update': { parse: parseWebhookChange, handle: createWebhookUpdate(deps) },
      'webhook.delete': { handle: createWebhookDelete(deps) },
      'webhook.rotate': { handle: createWebhookRotate(deps) },
      'webhook.test': { parse: parseWebhookTest, handle: createWebhookTest(deps) },
      'webhook.replay': { parse: parseWebhookReplay, handle: createWebhookReplay(deps) },
      'webhook.log': { handle: createWebhookLog(deps) },
      'event.list': { handle: createEventList(deps) },
    },
    account: { records: { webhook: recordsOf(state, WEBHOOKS_OF) } },
    lookups: {
      we: {
        kind: 'webhook',
        find: findNamed(
          state,
          `select masked_url(url) as name, '/v1/webhooks/' || id as path from webhook_endpoints where account = $1 and id = $2`,
        ),
      },
      evt: {
        kind: 'event',
        find: findNamed(
          state,
          `select type as name, '/v1/events' as path from events where account = $1 and id = $2`,
        ),
      },
    },
    live: { webhooks: LIVE_WEBHOOKS },
  }
}
