// Object storage as its clients meet it, all on one product.
import { testParts } from './parts.ts'
import { ACCOUNT_REQUESTS } from './storage/client.ts'

testParts(
  {
    env: {
      ERGON_STORAGE_KMS_KEYS: 'customers,invoices',
      ERGON_TRUSTED_PROXIES: '127.0.0.1',
      ERGON_ACCOUNT_REQUESTS: String(ACCOUNT_REQUESTS),
    },
  },
  {
    buckets: () => import('./storage/buckets.ts'),
    objects: () => import('./storage/objects.ts'),
    answers: () => import('./storage/answers.ts'),
    protocol: () => import('./storage/protocol.ts'),
    'large bodies': () => import('./storage/large-bodies.ts'),
    damage: () => import('./storage/damage.ts'),
    annotations: () => import('./storage/annotations.ts'),
    'encryption updates': () => import('./storage/encryption-updates.ts'),
    addresses: () => import('./storage/addresses.ts'),
    'presigned parameters': () => import('./storage/presigned-parameters.ts'),
    trust: () => import('./storage/trust.ts'),
    rights: () => import('./storage/rights.ts'),
    conditions: () => import('./storage/conditions.ts'),
    'wrong addresses': () => import('./storage/wrong-addresses.ts'),
    payers: () => import('./storage/payers.ts'),
    handles: () => import('./storage/handles.ts'),
    websites: () => import('./storage/website.ts'),
    'access logs': () => import('./storage/logs.ts'),
    events: () => import('./storage/events.ts'),
    'keys and clients': () => import('./storage/side-by-side.ts'),
    'command line': () => import('./storage/cli.ts'),
    'buckets from the command line': () => import('./storage/cli-buckets.ts'),
    'transfers from the command line': () => import('./storage/cli-transfers.ts'),
  },
)
