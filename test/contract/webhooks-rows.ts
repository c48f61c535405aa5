// Honest calls of the operations of webhooks, for the matrix.
import type { Row } from './matrix-row.ts'

const url = 'https://example.com/matrix'
const events = ['balance.low']

export const WEBHOOKS_ROWS: Readonly<Record<string, Row>> = {
  'webhook.create': {
    path: () => '/v1/webhooks',
    body: { url, events },
    statuses: [201, 409],
    badBodies: [
      { body: { events }, param: 'url' },
      { body: { url }, param: 'events' },
      { body: { url, events: 'balance.low' }, param: 'events' },
      { body: { url, events: [] }, param: 'events' },
      { body: { url, events: ['balance.high'] }, param: 'events[0]' },
      { body: { url: 'http://example.com', events }, param: 'url' },
      { body: { url: 'https://10.0.0.1/', events }, param: 'url' },
      { body: { url: 'https://user:pass@example.com/', events }, param: 'url' },
      { body: { url, events, secret: 'whsec_mine' }, param: 'secret' },
    ],
  },
  'webhook.list': { path: () => '/v1/webhooks' },
  'webhook.get': { path: () => '/v1/webhooks/none', statuses: [404] },
  'webhook.update': {
    path: () => '/v1/webhooks/none',
    body: { paused: true },
    statuses: [404],
    badBodies: [
      { body: {}, param: null },
      { body: { paused: 'yes' }, param: 'paused' },
      { body: { events: [] }, param: 'events' },
      { body: { status: 'active' }, param: 'status' },
    ],
  },
  'webhook.rotate': { path: () => '/v1/webhooks/none/secret', statuses: [404] },
  'webhook.test': {
    path: () => '/v1/webhooks/none/test',
    body: { event: 'balance.low' },
    statuses: [404],
    badBodies: [
      { body: {}, param: 'event' },
      { body: { event: 7 }, param: 'event' },
    ],
  },
  'webhook.replay': {
    path: () => '/v1/webhooks/none/replay',
    body: { event_id: 'evt_none' },
    statuses: [404],
    badBodies: [
      { body: {}, param: null },
      { body: { from: 'noon' }, param: 'from' },
      { body: { event_id: 'evt_1', from: '2026-01-01T00:00:00Z' }, param: null },
    ],
  },
  'webhook.delete': { path: () => '/v1/webhooks/none', statuses: [404] },
  'webhook.log': { path: () => '/v1/webhook-deliveries?limit=3' },
  'event.list': { path: () => '/v1/events?limit=3' },
}
