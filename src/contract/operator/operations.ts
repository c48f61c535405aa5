// The operator's view of the node, on the portal: for owners and admins of the first account alone. The node is
// controlled on its command line, not here.
import { withoutModel } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const view = {
  ...withoutModel,
  scope: 'billing-admin',
  service: 'service',
  answeredUnpaid: true,
  remembered: false,
  onPortal: true,
} as const
const act = { ...view, needsTouch: true } as const

export const OPERATOR = defineProduct({
  operations: {
    'operator-node.get': view,
    'operator-books.get': view,
    'operator-log.get': view,
    'operator-account.list': view,
    'operator-account.suspend': act,
    'operator-account.resume': act,
    'operator-alarm.list': view,
    'operator-alarm.acknowledge': act,
    'operator-incident.list': view,
    'operator-incident.open': act,
    'operator-incident.update': act,
    'operator-incident.close': act,
  },
  routes: [
    { method: 'GET', path: '/v1/operator/node', operation: 'operator-node.get', query: [] },
    { method: 'GET', path: '/v1/operator/books', operation: 'operator-books.get', query: [] },
    {
      method: 'GET',
      path: '/v1/operator/log',
      operation: 'operator-log.get',
      query: ['level', 'subsystem', 'limit'],
    },
    {
      method: 'GET',
      path: '/v1/operator/accounts',
      operation: 'operator-account.list',
      query: ['limit', 'cursor'],
    },
    {
      method: 'POST',
      path: '/v1/operator/accounts/:account/suspend',
      operation: 'operator-account.suspend',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/operator/accounts/:account/resume',
      operation: 'operator-account.resume',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/operator/alarms',
      operation: 'operator-alarm.list',
      query: ['limit', 'cursor', 'acknowledged'],
    },
    {
      method: 'POST',
      path: '/v1/operator/alarms/:alarm/acknowledge',
      operation: 'operator-alarm.acknowledge',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/operator/incidents',
      operation: 'operator-incident.list',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/operator/incidents',
      operation: 'operator-incident.open',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/operator/incidents/:incident/updates',
      operation: 'operator-incident.update',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/operator/incidents/:incident/close',
      operation: 'operator-incident.close',
      query: [],
    },
  ],
})
