// GET /healthz: the process answers.
import type { Handler } from '#http/reply.ts'

export const createHealth = (): Handler => () => ({
  kind: 'known',
  status: 200,
  body: () => ({ status: 'ok' }),
})
