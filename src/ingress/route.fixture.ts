// A route of a function for tests.
import type { IngressRoute } from './routes.ts'

export const testRoute = (more: Partial<IngressRoute> = {}): IngressRoute => ({
  id: 'fn_a',
  kind: 'function',
  account: 'acct_a',
  host: null,
  path: '/',
  timeoutS: 1,
  concurrency: null,
  scale: null,
  ...more,
})
