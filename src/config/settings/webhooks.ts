// The settings of webhooks.
import { count, networks, onOff } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const WEBHOOKS_SETTINGS = {
  webhooks: {
    name: 'ERGON_WEBHOOKS',
    flag: 'webhooks',
    help: 'on or off: events are sent to the endpoints of accounts (default on)',
    check: onOff.default(true),
  },
  webhookNetworks: {
    name: 'ERGON_WEBHOOK_NETWORKS',
    flag: 'webhook-networks',
    help: 'Private addresses and networks that webhooks may be sent to, by comma, or none (default: 127.0.0.1,::1 while the service is on loopback only, else none)',
    check: networks.optional(),
  },
  webhookLogDays: {
    name: 'ERGON_WEBHOOK_LOG_DAYS',
    flag: 'webhook-log-days',
    help: 'Days that deliveries are kept: sent, waiting and given up (default 30)',
    check: count(4, 3650).default(30),
  },
} satisfies Settings
