// The components of the installation's own probe, without the schemas of its results.

export const PROBE_DAYS_MAX = 90

/** The components, with the request that probes each, in words; or the reason for none. */
export const PROBE_COMPONENTS = {
  api: { name: 'API', request: 'GET /v1/models' },
  inference: {
    name: 'Inference',
    request: 'POST /v1/chat/completions: “What is the capital of France?”',
  },
  embeddings: { name: 'Embeddings', request: 'POST /v1/embeddings: “The capital of France”' },
  storage: { name: 'Object storage', request: 'PUT, GET and DELETE of an object of 1 kB' },
  databases: { name: 'Databases', request: 'select 1, at the database “probe”' },
  functions: {
    name: 'Functions and containers',
    never: 'the status page asks the ingress each minute',
  },
  ledger: { name: 'Accounts and ledger', request: 'GET /v1/balance' },
  receipts: {
    name: 'Receipts',
    request: 'GET /v1/balance, then its receipt until it is signed',
  },
  webhooks: { name: 'Webhooks', never: 'a delivery needs an address outside of the installation' },
  payments: { name: 'Payments', never: 'a payment moves money' },
  portal: { name: 'Portal', never: 'the status page asks its address each minute' },
} as const satisfies Readonly<
  Record<
    string,
    { readonly name: string } & ({ readonly request: string } | { readonly never: string })
  >
>
export type ProbeComponent = keyof typeof PROBE_COMPONENTS
/** Those that are asked. */
export type ProbedComponent = {
  [Id in ProbeComponent]: (typeof PROBE_COMPONENTS)[Id] extends { request: string } ? Id : never
}[ProbeComponent]
