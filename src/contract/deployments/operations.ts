// Deployments: description files, compared with the existing resources and applied.
import { backgroundWork, ownView, withoutModel } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const own = { ...withoutModel, service: 'deployments', remembered: true } as const
const view = { ...own, ...ownView, remembered: false } as const

export const DEPLOYMENTS = defineProduct({
  operations: {
    /** A dry run too: a plan tells whether a sealed variable has the value that the description gives. */
    'deployment.create': { ...own, scope: 'deploy', idempotent: true, needsTouch: true },
    'deployment.list': view,
    'deployment.get': view,
    'deployment.cancel': { ...own, scope: 'deploy', answeredUnpaid: true },
    /** No request: the changes of an accepted deployment, by the minute. */
    'deployment.apply': backgroundWork('deployments'),
  },
  routes: [
    { method: 'POST', path: '/v1/deployments', operation: 'deployment.create', query: [] },
    {
      method: 'GET',
      path: '/v1/deployments',
      operation: 'deployment.list',
      query: ['cursor', 'limit', 'stack'],
    },
    { method: 'GET', path: '/v1/deployments/:deployment', operation: 'deployment.get', query: [] },
    {
      method: 'DELETE',
      path: '/v1/deployments/:deployment',
      operation: 'deployment.cancel',
      query: [],
    },
  ],
})
