// What a product must stand that has a plug, keeps every line of its log, and charges stored bytes each
// second. The outages come last: they kill its state.
import { after } from 'node:test'
import { testParts } from './parts.ts'
import { MILLIWATTS_PER_TB, MINUTE_S } from './second-product/minutes.ts'
import { startPlug, stopPlug } from './second-product/plug-server.ts'

const plugUrl = await startPlug()
after(stopPlug)

testParts(
  {
    env: {
      ERGON_LOG_LEVEL: 'debug',
      ERGON_PLUG_URL: plugUrl,
      ERGON_PLUG_BAND_PCT: '3',
      ERGON_STORAGE_MINUTE_S: String(MINUTE_S),
      ERGON_STORAGE_MILLIWATTS_PER_TB: String(MILLIWATTS_PER_TB),
    },
  },
  {
    'a plug': () => import('./second-product/plug.ts'),
    'stored bytes': () => import('./second-product/standing.ts'),
    'exposed tokens': () => import('./second-product/token-exposure.ts'),
    outages: () => import('./second-product/outages.ts'),
  },
)
