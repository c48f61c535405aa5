// What a plain product must stand, whoever asks: its parts, in an order in which the first one finds no
// model, the last one of a gateway kills it, and a stop gives the product two of them for what must hold
// on every gateway at once, and for a start with fewer.
import { testParts } from './parts.ts'

testParts(
  { env: { ERGON_STORAGE_ENCRYPTION: 'on' } },
  {
    'command line': () => import('./one-product/cli.ts'),
    'command line, aliases': () => import('./one-product/cli-aliases.ts'),
    'command line, receipts': () => import('./one-product/cli-receipts.ts'),
    'command line, operator': () => import('./one-product/cli-operator.ts'),
    examples: () => import('./one-product/examples.ts'),
    'bad input': () => import('./one-product/bad-input.ts'),
    'hostile HTTP': () => import('./one-product/hostile-http.ts'),
    'key of an upstream': () => import('./one-product/upstream-key.ts'),
    'encrypted buckets': () => import('./one-product/encrypted-buckets.ts'),
    'slow state': () => import('./one-product/slow-state.ts'),
    'pages of other origins': () => import('./one-product/browsers.ts'),
    'images and sound': () => import('./one-product/media.ts'),
    'absent server': () => import('./one-product/absent-server.ts'),
    'bad upstream': () => import('./one-product/bad-upstream.ts'),
    'costs of upstreams': () => import('./one-product/upstream-costs.ts'),
    'cut short': () => import('./one-product/cut-short.ts'),
    idempotency: () => import('./one-product/idempotency.ts'),
    'stop budget': () => import('./one-product/stop-budget.ts'),
    'revocation on two gateways': () => import('./two-gateways/revocation.ts'),
    'metrics of two gateways': () => import('./two-gateways/metrics.ts'),
    'models on two gateways': () => import('./two-gateways/models-add.ts'),
    'small wallet on two gateways': () => import('./two-gateways/small-wallet.ts'),
    'fewer gateways': () => import('./two-gateways/fewer.ts'),
  },
)
