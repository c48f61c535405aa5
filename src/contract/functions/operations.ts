// Functions: code of accounts that runs in cells of its own, woken by requests to its route.
import { withoutModel, ownView, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const own = { ...withoutModel, service: 'functions', remembered: true } as const
const view = { ...own, ...ownView, remembered: false } as const
const change = { ...own, scope: 'deploy' } as const
/** Also of an account that cannot pay: it is charged less afterwards. */
const removal = { ...change, answeredUnpaid: true } as const
/** Code that runs with the sealed variables, and at the live routes, outlives the session that asked for it. */
const code = { ...change, needsTouch: true } as const

export const FUNCTIONS = defineProduct({
  operations: {
    'function.deploy': { ...code, idempotent: true },
    'function.list': view,
    'function.get': view,
    'function.logs': view,
    'function.energy': view,
    'function.intervals': view,
    'function.failures': view,
    'function.replay': change,
    'function.discard': change,
    'function.update': { ...change, answeredUnpaid: 'suspension' },
    'function.rollback': code,
    'function.delete': removal,
    /** No request: what the cell of a function used for a minute. */
    'function.standing': backgroundWork('functions'),
  },
  routes: [
    {
      method: 'GET',
      path: '/v1/functions/:function/failures',
      operation: 'function.failures',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/functions/:function/failures/replay',
      operation: 'function.replay',
      query: [],
    },
    {
      method: 'POST',
      path: '/v1/functions/:function/failures/discard',
      operation: 'function.discard',
      query: [],
    },
    { method: 'POST', path: '/v1/functions', operation: 'function.deploy', query: [] },
    { method: 'GET', path: '/v1/functions', operation: 'function.list', query: [] },
    { method: 'GET', path: '/v1/functions/:function', operation: 'function.get', query: [] },
    { method: 'PATCH', path: '/v1/functions/:function', operation: 'function.update', query: [] },
    { method: 'DELETE', path: '/v1/functions/:function', operation: 'function.delete', query: [] },
    {
      method: 'POST',
      path: '/v1/functions/:function/rollback',
      operation: 'function.rollback',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/functions/:function/logs',
      operation: 'function.logs',
      query: ['after', 'limit'],
    },
    {
      method: 'GET',
      path: '/v1/functions/:function/energy',
      operation: 'function.energy',
      query: ['since'],
    },
    {
      method: 'GET',
      path: '/v1/functions/:function/intervals',
      operation: 'function.intervals',
      query: ['from', 'to', 'limit', 'cursor'],
    },
  ],
})
