// What a product must stand that has a plug, keeps every line of its log, and charges stored bytes each
// second. The outages come last: they kill its state.
import { after } from 'node:test'
import { CHAT } from './one-model/models.ts'
import { testParts } from './parts.ts'
import { MILLIWATTS_PER_TB, MINUTE_S } from './second-product/minutes.ts'
import { IDLE_MILLIWATTS, startPlug, stopPlug } from './second-product/plug-server.ts'

const plugUrl = await startPlug()
after(stopPlug)

testParts(
  {
    models: CHAT,
    env: {
      ERGON_LOG_LEVEL: 'debug',
      ERGON_PLUG_URL: plugUrl,
      ERGON_PLUG_BAND_PCT: '3',
      ERGON_SENSOR_IDLE_MILLIWATTS: String(IDLE_MILLIWATTS),
      ERGON_STORAGE_MINUTE_S: String(MINUTE_S),
      ERGON_STORAGE_MILLIWATTS_PER_TB: String(MILLIWATTS_PER_TB),
    },
  },
  {
    'measured conservation': () => import('./second-product/measured-conservation.ts'),
    'a plug': () => import('./second-product/plug.ts'),
    'stored bytes': () => import('./second-product/standing.ts'),
    'exposed tokens': () => import('./second-product/token-exposure.ts'),
    outages: () => import('./second-product/outages.ts'),
  },
)
