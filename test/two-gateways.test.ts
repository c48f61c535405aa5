// What must hold on every gateway at once: two of them share one port.
import { testParts } from './parts.ts'

testParts(
  { env: { ERGON_GATEWAYS: '2' } },
  {
    revocation: () => import('./two-gateways/revocation.ts'),
    models: () => import('./two-gateways/models-add.ts'),
  },
)
