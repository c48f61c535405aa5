// What holds of real answers of real models, and still does when every process is killed in turn: the kills
// come last.
import { CHAT, EMBEDDING } from './one-model/models.ts'
import { testParts } from './parts.ts'

testParts(
  { models: `${CHAT},${EMBEDDING}` },
  {
    'caused shares': () => import('./one-model/caused-shares.ts'),
    'live conservation': () => import('./one-model/live-conservation.ts'),
    'stuck model': () => import('./one-model/stuck-model.ts'),
    'kill loop': () => import('./one-model/kill-loop.ts'),
  },
)
