// What the contract says, asked of a product: the shapes of replies, and every operation by every caller.
// Without a free tier an account that never had funds is over it from the start.
import { testParts } from './parts.ts'
import { METRICS_TOKEN } from './contract/metrics-token.ts'

testParts(
  { env: { ERGON_FREE_TIER_J: '0', ERGON_METRICS_TOKEN: METRICS_TOKEN } },
  {
    'OpenAPI page': () => import('./contract/openapi.ts'),
    'operation matrix': () => import('./contract/operation-matrix.ts'),
    'storage scopes': () => import('./contract/storage-scopes.ts'),
  },
)
