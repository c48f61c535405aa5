// Requests and replies of the routed operations of webhooks.
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { WEBHOOKS } from './operations.ts'
import * as webhooks from './webhooks.ts'

export const WEBHOOKS_DESCRIPTIONS: Descriptions<typeof WEBHOOKS> = {
  'webhook.create': {
    summary: 'Create an endpoint that receives events; only this answer has its secret',
    request: webhooks.webhookRequest,
    replies: {
      201: { help: 'The endpoint and its secret', media: json(webhooks.webhookWithSecret) },
    },
    refusals: ['webhook_exists', 'too_many_webhooks', 'webhooks_off'],
  },
  'webhook.list': {
    summary: 'The endpoints of the account, the oldest first',
    replies: ok('The endpoints', json(webhooks.webhookList)),
  },
  'webhook.get': {
    summary: 'An endpoint',
    replies: ok('The endpoint', json(webhooks.webhookReply)),
    refusals: ['webhook_not_found'],
  },
  'webhook.update': {
    summary: 'Change the url or the events of an endpoint, pause it or resume it',
    request: webhooks.webhookChange,
    replies: ok('The endpoint', json(webhooks.webhookReply)),
    refusals: ['webhook_not_found', 'webhook_exists'],
  },
  'webhook.delete': {
    summary: 'Delete an endpoint, its waiting deliveries and its log',
    replies: ok('It is deleted', json(webhooks.webhookDeleted)),
    refusals: ['webhook_not_found'],
  },
  'webhook.rotate': {
    summary: 'Give an endpoint a new secret; the old one signs too for 24 hours',
    replies: ok('The endpoint and its new secret', json(webhooks.webhookWithSecret)),
    refusals: ['webhook_not_found'],
  },
  'webhook.test': {
    summary: 'Send a synthetic event to an endpoint',
    request: webhooks.webhookTest,
    replies: { 202: { help: 'It is on its way', media: json(webhooks.webhookDelivery) } },
    refusals: ['webhook_not_found', 'webhook_not_active', 'webhooks_off'],
  },
  'webhook.replay': {
    summary: 'Send one event again, or the events of a time that did not arrive',
    request: webhooks.webhookReplay,
    replies: ok('The deliveries that are due now', json(webhooks.webhookReplayed)),
    refusals: ['webhook_not_found', 'event_not_found'],
  },
  'webhook.log': {
    summary: 'The deliveries of the account, the newest first',
    query: webhooks.webhookLogQuery,
    replies: ok('The deliveries', json(webhooks.webhookDeliveryList)),
    refusals: ['webhook_not_found'],
  },
  'event.list': {
    summary:
      'The events of the account by their sequence, as receivers get them; the oldest or the newest first',
    query: webhooks.eventListQuery,
    replies: ok('The events', json(webhooks.eventList)),
  },
}
