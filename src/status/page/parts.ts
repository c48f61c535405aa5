// The parts of the service that the page shows, as data: which operations belong to each, and how it is measured.
import { serviceOf } from '#contract/operations.ts'

export type PartSpec = {
  readonly id: string
  readonly name: string
  /** Services of its operations (`src/contract/operation.ts`). */
  readonly services: readonly string[]
  /** True where only the gateways lead to it: it is down with them. */
  readonly needsApi: boolean
}

export const INFERENCE_PART = 'inference'
export const PAYMENTS_PART = 'payments'
export const FUNCTIONS_PART = 'functions'

/** In the order of the page. The first one has all services that no other one names. */
export const PARTS: readonly PartSpec[] = [
  { id: 'api', name: 'API', services: [], needsApi: true },
  { id: INFERENCE_PART, name: 'Inference', services: ['inference'], needsApi: true },
  { id: 'storage', name: 'Object storage', services: ['storage'], needsApi: true },
  { id: 'databases', name: 'Databases', services: ['databases'], needsApi: false },
  {
    id: FUNCTIONS_PART,
    name: 'Functions and containers',
    services: ['functions', 'workloads'],
    needsApi: false,
  },
  {
    id: 'ledger',
    name: 'Accounts and ledger',
    services: ['accounts', 'tokens', 'members'],
    needsApi: false,
  },
  { id: 'receipts', name: 'Receipts', services: ['receipts'], needsApi: false },
  { id: 'webhooks', name: 'Webhooks', services: ['webhooks'], needsApi: false },
  { id: PAYMENTS_PART, name: 'Payments', services: ['payments'], needsApi: true },
  { id: 'portal', name: 'Portal', services: ['portal'], needsApi: true },
]

const byService = new Map(PARTS.flatMap(({ id, services }) => services.map((one) => [one, id])))

/** The part that an operation belongs to. */
export const partOf = (operation: string): string => byService.get(serviceOf(operation)) ?? 'api'

/** The part of one model. */
export const modelPart = (model: string): string => `${INFERENCE_PART}:${model}`
