// What the contract says, asked of a product (the shapes of replies, and every operation by every caller), and
// what one must stand that has a plug, keeps every line of its log, and charges stored bytes each second.
// Without a free tier an account that never had funds is over it from the start. The outages come last:
// they kill its state.
import { after } from 'node:test'
import { METRICS_TOKEN } from './contract/metrics-token.ts'
import { testParts } from './parts.ts'
import { MILLIWATTS_PER_TB, MINUTE_S } from './second-product/minutes.ts'
import { startPlug, stopPlug } from './second-product/plug-server.ts'

const plugUrl = await startPlug()
after(stopPlug)

testParts(
  {
    env: {
      ERGON_FREE_TIER_J: '0',
      ERGON_METRICS_TOKEN: METRICS_TOKEN,
      ERGON_LOG_LEVEL: 'debug',
      ERGON_PLUG_URL: plugUrl,
      ERGON_PLUG_BAND_PCT: '3',
      ERGON_STORAGE_MINUTE_S: String(MINUTE_S),
      ERGON_STORAGE_MILLIWATTS_PER_TB: String(MILLIWATTS_PER_TB),
    },
  },
  {
    'OpenAPI page': () => import('./contract/openapi.ts'),
    'operation matrix': () => import('./contract/operation-matrix.ts'),
    'a plug': () => import('./second-product/plug.ts'),
    'stored bytes': () => import('./second-product/standing.ts'),
    'exposed tokens': () => import('./second-product/token-exposure.ts'),
    outages: () => import('./second-product/outages.ts'),
  },
)
