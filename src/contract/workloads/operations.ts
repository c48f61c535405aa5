// Workloads: images of accounts that run as containers, woken by requests to their hosts or kept running.
import { withoutModel, ownView, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const own = { ...withoutModel, service: 'workloads', remembered: true } as const
const view = { ...own, ...ownView, remembered: false } as const
const change = { ...own, scope: 'deploy' } as const
/** Also of an account that cannot pay: it is charged less afterwards. */
const lessening = { ...change, answeredUnpaid: true } as const
/** Code that runs with the sealed variables, and at the live routes, outlives the session that asked for it. */
const code = { ...change, needsTouch: true } as const
const ONE = '/v1/workloads/:workload'
const REGISTRY = '/v1/registries/:registry'

export const WORKLOADS = defineProduct({
  operations: {
    'workload.deploy': { ...code, idempotent: true },
    'workload.list': view,
    'workload.get': view,
    'workload.update': code,
    'workload.delete': lessening,
    'workload.logs': view,
    'workload.intervals': view,
    'workload.energy': view,
    'workload.scale': change,
    'workload.suspend': lessening,
    'workload.resume': change,
    'workload.rollback': code,
    /** No request: the bytes that the volumes of a workload take. */
    'volume.standing': backgroundWork('workloads'),
    /** No request: the bytes that the images of a workload take, each image of the account once. */
    'image.standing': backgroundWork('workloads'),
    'registry.list': view,
    /** The password before is lost, and another one decides which images are pulled. */
    'registry.login': { ...change, needsTouch: true },
    'registry.logout': lessening,
    /** No request: what the cells of a workload used for a minute. */
    'workload.standing': backgroundWork('workloads'),
  },
  routes: [
    { method: 'POST', path: '/v1/workloads', operation: 'workload.deploy', query: [] },
    { method: 'GET', path: '/v1/workloads', operation: 'workload.list', query: [] },
    { method: 'GET', path: ONE, operation: 'workload.get', query: [] },
    { method: 'PATCH', path: ONE, operation: 'workload.update', query: [] },
    { method: 'DELETE', path: ONE, operation: 'workload.delete', query: [] },
    { method: 'GET', path: `${ONE}/logs`, operation: 'workload.logs', query: ['lines', 'after'] },
    { method: 'GET', path: `${ONE}/energy`, operation: 'workload.energy', query: ['since'] },
    {
      method: 'GET',
      path: `${ONE}/intervals`,
      operation: 'workload.intervals',
      query: ['from', 'to', 'limit', 'cursor'],
    },
    { method: 'POST', path: `${ONE}/scale`, operation: 'workload.scale', query: [] },
    { method: 'POST', path: `${ONE}/suspend`, operation: 'workload.suspend', query: [] },
    { method: 'POST', path: `${ONE}/resume`, operation: 'workload.resume', query: [] },
    { method: 'POST', path: `${ONE}/rollback`, operation: 'workload.rollback', query: [] },
    { method: 'GET', path: '/v1/registries', operation: 'registry.list', query: [] },
    { method: 'PUT', path: REGISTRY, operation: 'registry.login', query: [] },
    { method: 'DELETE', path: REGISTRY, operation: 'registry.logout', query: [] },
  ],
})
