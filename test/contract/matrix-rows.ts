// An honest call of each operation, for the matrix: an operation without a row fails.
import { WEBHOOKS_ROWS } from './webhooks-rows.ts'
import { COMPLIANCE_ROWS } from './compliance-rows.ts'
import type { Row } from './matrix-row.ts'
import { DATABASES_ROWS } from './databases-rows.ts'
import { DEPLOYMENTS_ROWS } from './deployments-rows.ts'
import { FUNCTIONS_ROWS } from './functions-rows.ts'
import { OPERATOR_ROWS } from './operator-rows.ts'
import { PAYMENTS_ROWS } from './payments-rows.ts'
import { PORTAL_ROWS } from './portal-rows.ts'
import { WORKLOADS_ROWS } from './workloads-rows.ts'
import { METRICS_TOKEN } from '../settings.ts'
import { CHAT, EMBEDDING, world } from './matrix-world.ts'

const messages = [{ role: 'user', content: 'Hello' }]
export const ROWS: Readonly<Record<string, Row>> = {
  'chat.create': {
    path: () => '/v1/chat/completions',
    body: { model: CHAT, messages },
    badBodies: [
      { body: { messages }, param: 'model' },
      { body: { model: CHAT }, param: 'messages' },
      {
        body: { model: CHAT, messages: [{ role: 'user', content: 7 }] },
        param: 'messages[0].content',
      },
      { body: { model: CHAT, messages, max_tokens: '7' }, param: 'max_tokens' },
      { body: [], param: null },
    ],
  },
  'completion.create': {
    path: () => '/v1/completions',
    body: { model: CHAT, prompt: 'Hello' },
    badBodies: [
      { body: { model: CHAT }, param: 'prompt' },
      { body: { model: CHAT, prompt: 'a', n: 0 }, param: 'n' },
    ],
  },
  'embedding.create': {
    path: () => '/v1/embeddings',
    body: { model: EMBEDDING, input: 'Hello' },
    badBodies: [
      { body: { model: EMBEDDING }, param: 'input' },
      { body: { model: EMBEDDING, input: '' }, param: 'input' },
      { body: { model: EMBEDDING, input: 'a', encoding_format: 'hex' }, param: 'encoding_format' },
    ],
  },
  'chat.ceiling': {
    path: () => '/v1/chat/completions/ceiling',
    body: { model: CHAT, messages },
    badBodies: [
      { body: { messages }, param: 'model' },
      { body: { model: CHAT, messages, max_tokens: '7' }, param: 'max_tokens' },
    ],
  },
  'completion.ceiling': {
    path: () => '/v1/completions/ceiling',
    body: { model: CHAT, prompt: 'Hello' },
    badBodies: [{ body: { model: CHAT }, param: 'prompt' }],
  },
  'embedding.ceiling': {
    path: () => '/v1/embeddings/ceiling',
    body: { model: EMBEDDING, input: 'Hello' },
    badBodies: [{ body: { model: EMBEDDING, input: '' }, param: 'input' }],
  },
  'model.list': { path: () => '/v1/models' },
  'model.get': { path: () => `/v1/models/${CHAT}` },
  'storage.buckets': { path: () => '/v1/storage/buckets?limit=3' },
  'presign.create': {
    path: () => '/v1/storage/presigned',
    body: { bucket: 'matrix', key: 'key' },
    badBodies: [
      { body: { bucket: 'matrix' }, param: 'key' },
      { body: { bucket: 'Not A Bucket', key: 'key' }, param: 'bucket' },
      { body: { bucket: 'matrix', key: 'a/../b' }, param: 'key' },
      { body: { bucket: 'matrix', key: 'key', method: 'DELETE' }, param: 'method' },
      { body: { bucket: 'matrix', key: 'key', expires_s: 604_801 }, param: 'expires_s' },
    ],
  },
  'usage.last': { path: () => '/v1/usage/last' },
  'usage.get': { path: () => '/v1/usage?group_by=model' },
  'live.get': { path: () => '/v1/live?seconds=1', isStreamed: true },
  'receipt.list': { path: () => '/v1/receipts?limit=3' },
  'receipt.get': {
    path: () => `/v1/receipts/${world.receipt}`,
    others: { path: () => `/v1/receipts/${world.othersReceipt}`, code: 'receipt_not_found' },
    depleteds: () => `/v1/receipts/${world.depletedsReceipt}`,
    nobodys: () => `/v1/receipts/${world.nobodysReceipt}`,
    statuses: [200, 202],
  },
  'receipt.keys': { path: () => '/.well-known/ergon/receipt-keys.json' },
  'receipt.checkpoint': { path: () => `/.well-known/ergon/logs/${world.log}/checkpoint` },
  'receipt.tile': { path: () => `/.well-known/ergon/logs/${world.log}/tile/${world.tile}` },
  'service.health': { path: () => '/healthz' },
  'service.ready': { path: () => '/readyz' },
  'service.metrics': { path: () => '/metrics', credential: METRICS_TOKEN },
  'probe.get': { path: () => '/v1/probe?days=2' },
  'error-rate.get': { path: () => '/v1/account/error-rate' },
  'public-name.renew': { path: () => '/v1/account/public-name' },
  'token.create': {
    path: () => '/v1/tokens',
    body: { name: 'matrix' },
    statuses: [201],
    badBodies: [
      { body: {}, param: 'name' },
      { body: { name: '' }, param: 'name' },
      { body: { name: 'a\u001b[2J' }, param: 'name' },
      { body: { name: 'x', scope: 'all' }, param: 'scope' },
      { body: { name: 'x', expires_days: 0 }, param: 'expires_days' },
    ],
  },
  'member.list': { path: () => '/v1/members?limit=3' },
  'member.get': { path: () => '/v1/members/me' },
  'member.invite': {
    path: () => '/v1/members',
    body: { name: 'matrix', role: 'viewer' },
    statuses: [201],
    badBodies: [
      { body: { role: 'viewer' }, param: 'name' },
      { body: { name: 'a\u001b[2J', role: 'viewer' }, param: 'name' },
      { body: { name: 'x' }, param: 'role' },
      { body: { name: 'x', role: 'king' }, param: 'role' },
      { body: { name: 'x', role: 'viewer', contact: '' }, param: 'contact' },
      { body: { name: 'x', role: 'viewer', expires_days: 31 }, param: 'expires_days' },
      { body: { name: 'x', role: 'viewer', scope: 'read' }, param: 'scope' },
    ],
  },
  'member.reinvite': {
    path: () => '/v1/members/mem_none/invitation',
    body: {},
    statuses: [404],
    badBodies: [{ body: { expires_days: 0 }, param: 'expires_days' }],
  },
  'member.accept': {
    path: () => '/v1/members/accept',
    body: { code: `inv_${'a'.repeat(38)}` },
    // No member has it.
    statuses: [404],
  },
  'member.update': {
    path: () => '/v1/members/mem_none',
    body: { role: 'viewer' },
    statuses: [404],
    badBodies: [
      { body: {}, param: null },
      { body: { role: 'king' }, param: 'role' },
      { body: { name: null }, param: 'name' },
      { body: { state: 'active' }, param: 'state' },
    ],
  },
  'member.remove': { path: () => '/v1/members/mem_none', statuses: [404] },
  'lookup.get': {
    path: () => `/v1/lookup/${world.receipt}`,
    others: { path: () => `/v1/lookup/${world.othersReceipt}`, code: 'not_found' },
    depleteds: () => `/v1/lookup/${world.depletedsReceipt}`,
  },
  'budget.list': { path: () => '/v1/budgets?limit=3' },
  'audit.list': { path: () => '/v1/audit?action=token.create' },
  'token.list': { path: () => '/v1/tokens' },
  'token.update': {
    path: () => '/v1/tokens/tok_none',
    body: { requests_per_minute: 60 },
    statuses: [404],
    badBodies: [
      { body: { requests_per_minute: 0 }, param: 'requests_per_minute' },
      { body: { energy_budget: '5 J/day' }, param: 'energy_budget' },
    ],
  },
  'token.rotate': {
    path: () => '/v1/tokens/tok_none/rotate',
    body: {},
    statuses: [404],
    badBodies: [{ body: { overlap_s: -1 }, param: 'overlap_s' }],
  },
  'token.revoke': { path: () => '/v1/tokens/tok_none', statuses: [404] },
  'account.export': { path: () => '/v1/account/export', isStreamed: true },
  // The id of no account: the callers of the other rows stay.
  'account.delete': {
    path: () => '/v1/account',
    body: { confirm: 'acct_none' },
    statuses: [400],
    badBodies: [
      { body: {}, param: 'confirm' },
      { body: { confirm: 7 }, param: 'confirm' },
      { body: { confirm: 'acct_none' }, param: 'confirm' },
      { body: { confirm: 'acct_none', at_once: 'yes' }, param: 'at_once' },
      { body: { confirm: 'acct_none', days: 0 }, param: 'days' },
    ],
  },
  'account.restore': {
    path: () => '/v1/account/restore',
    body: {},
    statuses: [409],
    badBodies: [{ body: { confirm: 'acct_none' }, param: 'confirm' }],
  },
  ...DATABASES_ROWS,
  ...FUNCTIONS_ROWS,
  ...DEPLOYMENTS_ROWS,
  ...WORKLOADS_ROWS,
  ...PAYMENTS_ROWS,
  ...WEBHOOKS_ROWS,
  ...COMPLIANCE_ROWS,
  ...PORTAL_ROWS,
  ...OPERATOR_ROWS,
}
