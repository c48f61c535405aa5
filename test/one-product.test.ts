// What a plain product must stand, whoever asks: its parts, in an order in which the last one kills the
// gateway and the first one finds no model.
import { testParts } from './parts.ts'

testParts(
  {},
  {
    'command line': () => import('./one-product/cli.ts'),
    examples: () => import('./one-product/examples.ts'),
    'bad input': () => import('./one-product/bad-input.ts'),
    'hostile HTTP': () => import('./one-product/hostile-http.ts'),
    'key of an upstream': () => import('./one-product/upstream-key.ts'),
    'slow state': () => import('./one-product/slow-state.ts'),
    'bad upstream': () => import('./one-product/bad-upstream.ts'),
    idempotency: () => import('./one-product/idempotency.ts'),
  },
)
