// Operator operations on journals that a start kept.
import type { KeptJournals } from '#node/kept-journals.ts'
import type { ControlRoute } from './control.ts'

export const journalRoutes = (kept: KeptJournals): readonly ControlRoute[] => [
  { method: 'GET', path: /^\/journals$/, handle: () => kept.list() },
  {
    method: 'POST',
    path: /^\/journals\/([^/]+)\/post$/,
    handle: ({ parameters: [process = ''] }) => kept.post(process),
  },
  {
    method: 'POST',
    path: /^\/journals\/([^/]+)\/drop$/,
    handle: ({ parameters: [process = ''] }) => kept.drop(process),
  },
]
