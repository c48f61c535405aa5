// A counter by account: the smallest product that takes part in every list.
import { withoutModel } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const toy = { ...withoutModel, service: 'toy', remembered: true } as const

export const TOY = defineProduct({
  operations: {
    'toy.count': { ...toy, scope: 'read' },
    /** The protocol of the toy names it. */
    'toy.ping': { ...toy, scope: 'read', unrouted: true },
    /** No request: what a counter costs while nobody asks. */
    'toy.standing': { ...toy, scope: null, remembered: false, unrouted: true },
  },
  routes: [{ method: 'PATCH', path: '/v1/toy/count', operation: 'toy.count', query: [] }],
})
