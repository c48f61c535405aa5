// What a product must stand that keeps every line of its log, and whose stored bytes are charged each second.
// The outages come last: they kill its state.
import { testParts } from './parts.ts'
import { MILLIWATTS_PER_TB, MINUTE_S } from './second-product/minutes.ts'

testParts(
  {
    env: {
      ERGON_LOG_LEVEL: 'debug',
      ERGON_STORAGE_MINUTE_S: String(MINUTE_S),
      ERGON_STORAGE_MILLIWATTS_PER_TB: String(MILLIWATTS_PER_TB),
    },
  },
  {
    'stored bytes': () => import('./second-product/standing.ts'),
    'exposed tokens': () => import('./second-product/token-exposure.ts'),
    outages: () => import('./second-product/outages.ts'),
  },
)
