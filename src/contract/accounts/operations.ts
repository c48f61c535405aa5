// Accounts: what an account used, its receipts, its tokens, its members.
import { withoutModel, ownView } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

/** Not idempotent: the reply may hold a secret, and replies are kept for repetitions in plain text. */
const token = { ...ownView, service: 'tokens', remembered: false } as const
/** Refused while the account is being deleted, unless an operation says otherwise. */
const change = { ...withoutModel, remembered: true, answeredUnpaid: true } as const
/** At the portal a person confirms it with a passkey. */
const confirmed = { needsTouch: true } as const
const tokenChange = { ...change, service: 'tokens' } as const
const memberChange = { ...change, ...confirmed, service: 'members' } as const
const invitation = {
  ...withoutModel,
  ...confirmed,
  scope: 'billing-admin',
  service: 'members',
  remembered: true,
} as const
/** Operations on the account as a whole. */
const life = { ...change, service: 'accounts' } as const

const ofMember = { scope: 'billing-admin', ofMember: true } as const
const members = { ...ownView, service: 'members', remembered: false } as const

export const ACCOUNTS = defineProduct({
  operations: {
    'usage.last': { ...ownView, service: 'usage', remembered: false },
    'usage.get': { ...ownView, service: 'usage', remembered: false },
    'receipt.list': { ...ownView, service: 'receipts', remembered: false },
    'receipt.get': { ...ownView, service: 'receipts', tokenOptional: true, remembered: false },
    'receipt.keys': { ...withoutModel, service: 'receipts', scope: null, remembered: false },
    'receipt.checkpoint': { ...withoutModel, service: 'receipts', scope: null, remembered: false },
    'receipt.tile': { ...withoutModel, service: 'receipts', scope: null, remembered: false },
    'token.create': {
      ...withoutModel,
      ...ofMember,
      ...confirmed,
      service: 'tokens',
      remembered: true,
    },
    'token.list': { ...token, answeredExhausted: true },
    /** It may remove the limits of a token. */
    'token.update': { ...tokenChange, ...confirmed, scope: 'billing-admin' },
    'token.rotate': { ...tokenChange, ...ofMember, ...confirmed },
    'token.revoke': {
      ...tokenChange,
      ...ofMember,
      ofItself: 'token',
      answeredDeleting: true,
      answeredExhausted: true,
    },
    'member.list': members,
    'member.get': members,
    'member.invite': invitation,
    'member.reinvite': invitation,
    'member.accept': { ...withoutModel, scope: null, service: 'members', remembered: false },
    'member.update': { ...memberChange, ...ofMember },
    'member.remove': { ...memberChange, ...ofMember, answeredDeleting: true },
    'lookup.get': { ...ownView, service: 'usage', remembered: false },
    'budget.list': { ...ownView, service: 'usage', remembered: false },
    'audit.list': { ...ownView, service: 'audit', remembered: false },
    'account.export': { ...life, scope: 'billing-admin', answeredDeleting: true },
    'account.delete': { ...life, ...confirmed, scope: 'billing-admin' },
    'account.restore': { ...life, scope: 'billing-admin', answeredDeleting: true },
  },
  routes: [
    { method: 'GET', path: '/v1/usage/last', operation: 'usage.last', query: [] },
    {
      method: 'GET',
      path: '/v1/usage',
      operation: 'usage.get',
      query: [
        'from',
        'to',
        'group_by',
        'step',
        'service',
        'operation',
        'model',
        'token',
        'resource',
        'cursor',
        'limit',
      ],
    },
    { method: 'GET', path: '/v1/receipts', operation: 'receipt.list', query: ['cursor', 'limit'] },
    { method: 'GET', path: '/v1/receipts/:receipt', operation: 'receipt.get', query: [] },
    { method: 'GET', path: '/.well-known/ergon/receipt-keys.json', operation: 'receipt.keys' },
    {
      method: 'GET',
      path: '/.well-known/ergon/logs/:log/:shard/checkpoint',
      operation: 'receipt.checkpoint',
    },
    {
      method: 'GET',
      path: '/.well-known/ergon/logs/:log/:shard/tile/*',
      operation: 'receipt.tile',
    },
    { method: 'POST', path: '/v1/tokens', operation: 'token.create', query: [] },
    { method: 'GET', path: '/v1/tokens', operation: 'token.list', query: ['cursor', 'limit'] },
    { method: 'PATCH', path: '/v1/tokens/:token', operation: 'token.update', query: [] },
    { method: 'POST', path: '/v1/tokens/:token/rotate', operation: 'token.rotate', query: [] },
    { method: 'DELETE', path: '/v1/tokens/:token', operation: 'token.revoke', query: [] },
    { method: 'GET', path: '/v1/members', operation: 'member.list', query: ['cursor', 'limit'] },
    { method: 'POST', path: '/v1/members', operation: 'member.invite', query: [] },
    { method: 'POST', path: '/v1/members/accept', operation: 'member.accept', query: [] },
    { method: 'GET', path: '/v1/members/:member', operation: 'member.get', query: [] },
    { method: 'PATCH', path: '/v1/members/:member', operation: 'member.update', query: [] },
    { method: 'DELETE', path: '/v1/members/:member', operation: 'member.remove', query: [] },
    {
      method: 'POST',
      path: '/v1/members/:member/invitation',
      operation: 'member.reinvite',
      query: [],
    },
    {
      method: 'GET',
      path: '/v1/audit',
      operation: 'audit.list',
      query: ['action', 'target', 'cursor', 'limit'],
    },
    { method: 'GET', path: '/v1/lookup/:id', operation: 'lookup.get', query: [] },
    { method: 'GET', path: '/v1/budgets', operation: 'budget.list', query: ['cursor', 'limit'] },
    { method: 'GET', path: '/v1/account/export', operation: 'account.export', query: [] },
    { method: 'DELETE', path: '/v1/account', operation: 'account.delete', query: [] },
    { method: 'POST', path: '/v1/account/restore', operation: 'account.restore', query: [] },
  ],
})
