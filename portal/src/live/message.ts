// A message of GET /v1/live, as the contract has it. Lists are whole in the first message of a stream and have what
// has changed in the others.
export type LiveCharge = {
  readonly id: string
  readonly at: string
  readonly service: string
  readonly operation: string
  readonly model?: string | undefined
  readonly energy_nj: string
  readonly charge_pusd: string
}
export type Stated<Fields> =
  | ({ readonly id: string } & Fields)
  | { readonly id: string; readonly gone: true }
export type LiveBudget = { readonly budget_nj: string; readonly used_nj: string }
export type LiveResource = {
  readonly kind: string
  readonly name: string
  readonly status: string
  readonly wanted: string
  readonly reason: string | null
}
export type LiveWebhook = {
  readonly status: string
  readonly failures: number
  readonly last_success_at: string | null
  readonly last_failure_at: string | null
  readonly last_error: string | null
}
export type LiveMessage = {
  readonly at: string
  readonly watts: Readonly<Record<string, number>>
  readonly method: string
  readonly band_pct: number
  readonly today: {
    readonly day: string
    readonly requests: number
    readonly energy_nj: string
    readonly carbon_pg: string
    readonly charge_pusd: string
  }
  readonly looking_nj: string
  readonly charges?: readonly LiveCharge[] | undefined
  readonly charges_more?: number | undefined
  readonly balance?:
    | {
        readonly unit: 'USD' | 'tUSD'
        readonly balance_pusd: string
        readonly available_pusd: string
        readonly depleted_since: string | null
      }
    | undefined
  readonly budgets?: readonly Stated<LiveBudget>[] | undefined
  readonly resources?: readonly Stated<LiveResource>[] | undefined
  readonly webhooks?: readonly Stated<LiveWebhook>[] | undefined
}
