// Webhooks: events of an account, sent to addresses of its choice.
import { withoutModel, ownView, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const webhook = { ...withoutModel, service: 'webhooks', remembered: true } as const
/** Makes a secret: at the portal a person confirms it with a passkey. */
const secret = { ...webhook, scope: 'deploy', needsTouch: true } as const
const view = { ...webhook, ...ownView, remembered: false } as const

export const WEBHOOKS = defineProduct({
  operations: {
    /**
     * The operation takes no Idempotency-Key: a stored answer would keep the secret. A second endpoint of the same url
     * is refused.
     */
    'webhook.create': secret,
    'webhook.list': view,
    'webhook.get': view,
    /** Another address gets all further events, after the session too. */
    'webhook.update': { ...webhook, scope: 'deploy', needsTouch: true },
    'webhook.delete': { ...webhook, scope: 'deploy', answeredUnpaid: true },
    'webhook.rotate': secret,
    'webhook.test': { ...webhook, scope: 'deploy', idempotent: true },
    'webhook.replay': { ...webhook, scope: 'deploy', idempotent: true },
    'webhook.log': view,
    /** The events that say that the balance is empty must be found. */
    'event.list': view,
    /** No request: the deliveries of an account, by the minute. */
    'webhook.delivery': backgroundWork('webhooks'),
  },
  routes: [
    { method: 'POST', path: '/v1/webhooks', operation: 'webhook.create', query: [] },
    { method: 'GET', path: '/v1/webhooks', operation: 'webhook.list', query: [] },
    { method: 'GET', path: '/v1/webhooks/:webhook', operation: 'webhook.get', query: [] },
    { method: 'PATCH', path: '/v1/webhooks/:webhook', operation: 'webhook.update', query: [] },
    { method: 'DELETE', path: '/v1/webhooks/:webhook', operation: 'webhook.delete', query: [] },
    {
      method: 'PUT',
      path: '/v1/webhooks/:webhook/secret',
      operation: 'webhook.rotate',
      query: [],
    },
    { method: 'POST', path: '/v1/webhooks/:webhook/test', operation: 'webhook.test', query: [] },
    {
      method: 'POST',
      path: '/v1/webhooks/:webhook/replay',
      operation: 'webhook.replay',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/webhook-deliveries',
      operation: 'webhook.log',
      query: ['webhook', 'since', 'status', 'limit', 'cursor'],
    },
    {
      method: 'GET',
      path: '/v1/events',
      operation: 'event.list',
      query: ['cursor', 'after', 'order', 'limit'],
    },
  ],
})
