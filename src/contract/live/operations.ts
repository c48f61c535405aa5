// The live stream of an account.
import { withoutModel } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

export const LIVE = defineProduct({
  operations: {
    /** A stream takes minutes, so an account that cannot pay has none. */
    'live.get': { ...withoutModel, service: 'usage', scope: 'read', remembered: false },
  },
  routes: [{ method: 'GET', path: '/v1/live', operation: 'live.get', query: ['seconds', 'after'] }],
})
