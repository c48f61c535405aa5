// Evidence packs: what an auditor needs of an account and a time, signed by the log of receipts.
import { withoutModel, ownView, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const pack = { ...withoutModel, service: 'compliance', remembered: true } as const

const view = { ...ownView, service: 'compliance', remembered: false } as const

export const COMPLIANCE = defineProduct({
  operations: {
    'pack.create': { ...pack, scope: 'billing-admin', idempotent: true },
    'pack.list': view,
    'pack.get': view,
    'pack.content': { ...pack, scope: 'read', answeredDeleting: true },
    'pack.delete': { ...pack, scope: 'billing-admin', answeredUnpaid: true },
    /** No request: the work of a pack, by the minute, and its signature. */
    'pack.build': backgroundWork('compliance'),
  },
  routes: [
    { method: 'POST', path: '/v1/compliance/packs', operation: 'pack.create', query: [] },
    {
      method: 'GET',
      path: '/v1/compliance/packs',
      operation: 'pack.list',
      query: ['limit', 'cursor'],
    },
    { method: 'GET', path: '/v1/compliance/packs/:pack', operation: 'pack.get', query: [] },
    {
      method: 'GET',
      path: '/v1/compliance/packs/:pack/content',
      operation: 'pack.content',
      query: [],
    },
    { method: 'DELETE', path: '/v1/compliance/packs/:pack', operation: 'pack.delete', query: [] },
  ],
})
