// The part that all kinds of resources have.

export type Resource = {
  readonly id: string
  readonly account: string
  readonly name: string
}
