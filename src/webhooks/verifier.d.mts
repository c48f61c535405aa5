// The types of verifier.mjs.

export type WebhookEvent<Data = Readonly<Record<string, unknown>>> = {
  /** Such as `balance.low`. */
  readonly event: string
  /** The same in every attempt and replay: handle each once. */
  readonly event_id: string
  readonly occurred_at: string
  /** `sequence` numbers the events of an account; deliveries may come in another order. */
  readonly data: Data & { readonly account_id: string; readonly sequence: number }
}

export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export declare class WebhookVerificationError extends Error {}

/**
 * Checks a delivery and returns its event. `body` is the request's body as it came, not parsed and printed again. `secret` is
 * the one that `webhook create` printed, or several during a rotation of the receiver. Throws WebhookVerificationError
 * for a forged or an old delivery, and TypeError for a secret that is missing or empty: with that one anyone could sign.
 */
export declare function verifyWebhook<Data = Readonly<Record<string, unknown>>>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options?: {
    /** Default 300. */
    readonly toleranceS?: number
    readonly nowMs?: number
  },
): WebhookEvent<Data>
