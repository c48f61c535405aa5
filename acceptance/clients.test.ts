// The product as its clients and its contract have it, with the default models, a plug, every line of its
// log, no free tier (an account that never had funds is over it from the start), and charges of stored
// bytes each second. The plug is gone after its part; the parts behind the clients add models of
// their own; the outages come last, as they kill the state.
import { after } from 'node:test'
import { METRICS_TOKEN } from '../test/contract/metrics-token.ts'
import { testParts } from '../test/parts.ts'
import { MILLIWATTS_PER_TB, MINUTE_S } from '../test/second-product/minutes.ts'
import { IDLE_MILLIWATTS, startPlug, stopPlug } from '../test/second-product/plug-server.ts'

const plugUrl = await startPlug()
after(stopPlug)

testParts(
  {
    models: 'default',
    env: {
      ERGON_FREE_TIER_J: '0',
      ERGON_METRICS_TOKEN: METRICS_TOKEN,
      ERGON_LOG_LEVEL: 'debug',
      ERGON_PLUG_URL: plugUrl,
      ERGON_PLUG_BAND_PCT: '3',
      ERGON_SENSOR_IDLE_MILLIWATTS: String(IDLE_MILLIWATTS),
      ERGON_STORAGE_MINUTE_S: String(MINUTE_S),
      ERGON_STORAGE_MILLIWATTS_PER_TB: String(MILLIWATTS_PER_TB),
    },
  },
  {
    'measured conservation': () => import('../test/second-product/measured-conservation.ts'),
    'a plug': () => import('../test/second-product/plug.ts'),
    clients: () => import('./clients.ts'),
    'OpenAPI page': () => import('../test/contract/openapi.ts'),
    'operation matrix': () => import('../test/contract/operation-matrix.ts'),
    metrics: () => import('../test/contract/metrics.ts'),
    'storage scopes': () => import('../test/contract/storage-scopes.ts'),
    'stored bytes': () => import('../test/second-product/standing.ts'),
    'exposed tokens': () => import('../test/second-product/token-exposure.ts'),
    outages: () => import('../test/second-product/outages.ts'),
  },
)
