// What a plain product must stand, whoever asks: its parts, in an order in which the last one kills the
// gateway and the first one finds no model.
import { testParts } from './parts.ts'

testParts(
  { env: { ERGON_STORAGE_KMS_KEYS: 'customers,invoices' } },
  {
    'command line': () => import('./one-product/cli.ts'),
    examples: () => import('./one-product/examples.ts'),
    'bad input': () => import('./one-product/bad-input.ts'),
    storage: () => import('./one-product/storage.ts'),
    'storage addresses': () => import('./one-product/storage-addresses.ts'),
    'storage trust': () => import('./one-product/storage-trust.ts'),
    'storage handles': () => import('./one-product/storage-handles.ts'),
    'storage websites': () => import('./one-product/storage-website.ts'),
    'storage access logs': () => import('./one-product/storage-logs.ts'),
    'storage events': () => import('./one-product/storage-events.ts'),
    'storage keys': () => import('./one-product/storage-keys.ts'),
    'storage clients': () => import('./one-product/storage-clients.ts'),
    'storage command line': () => import('./one-product/storage-cli.ts'),
    'hostile HTTP': () => import('./one-product/hostile-http.ts'),
    'key of an upstream': () => import('./one-product/upstream-key.ts'),
    'slow state': () => import('./one-product/slow-state.ts'),
    'bad upstream': () => import('./one-product/bad-upstream.ts'),
    idempotency: () => import('./one-product/idempotency.ts'),
  },
)
