// The service itself: its health, its metrics, and charges without a request.
import { withoutModel, ownView, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

export const STATUS = defineProduct({
  operations: {
    'service.health': { ...withoutModel, service: 'service', scope: null, remembered: false },
    'service.ready': { ...withoutModel, service: 'service', scope: null, remembered: false },
    'service.metrics': { ...withoutModel, service: 'service', scope: null, remembered: false },
    'probe.get': { ...withoutModel, service: 'service', scope: null, remembered: false },
    'error-rate.get': { ...ownView, service: 'accounts', remembered: false },
    'public-name.renew': {
      ...withoutModel,
      scope: 'billing-admin',
      service: 'accounts',
      remembered: false,
    },
    /** No request: what a cell of an account used for a minute: a database's server. Functions have one of their own. */
    'cell.standing': backgroundWork('databases'),
    /** Unattributed requests: public pages, parser errors, 401, 404, 405. Many share one charge. */
    'service.nobody': {
      ...withoutModel,
      service: 'service',
      scope: null,
      remembered: false,
      unrouted: true,
    },
  },
  routes: [
    { method: 'GET', path: '/healthz', operation: 'service.health' },
    { method: 'GET', path: '/readyz', operation: 'service.ready' },
    { method: 'GET', path: '/metrics', operation: 'service.metrics' },
    { method: 'GET', path: '/v1/probe', operation: 'probe.get', query: ['days'] },
    { method: 'GET', path: '/v1/account/error-rate', operation: 'error-rate.get', query: [] },
    { method: 'PUT', path: '/v1/account/public-name', operation: 'public-name.renew', query: [] },
  ],
})
