// The last refusals of a gateway by request id, for `ergon admin request`: the code and the message that the caller
// got. In memory, as refusals are as many as their callers like; the ledger has the status of each charged request.
import type { ErgonError } from '#base/errors.ts'
import { tokenMask } from '#base/mask-tokens.ts'

/** A refusal as the operator sees it. */
export type Refusal = {
  readonly request: string
  readonly at: string
  readonly status: number
  readonly code: string
  readonly message: string
  readonly param: string | null
}

/** The page of a gateway's unix socket with its refusals, the newest first. */
export const REFUSALS_PAGE = '/refusals'
/** Masks the beginning of a token too: messages are cut. */
const withoutTokens = tokenMask(8)
/** About 1 MiB. */
const KEPT_MAX = 4096

type KeptRefusal = Omit<Refusal, 'at'> & { readonly atMs: number }

export interface Refusals {
  add(request: string, error: ErgonError): void
  /** The newest first, with tokens masked. */
  list(): Refusal[]
}

export function createRefusals(clock: { wallMs(): number }, max = KEPT_MAX): Refusals {
  const kept: KeptRefusal[] = []
  let next = 0
  return {
    add(request, { code, status, message, param }) {
      kept[next] = { request, atMs: clock.wallMs(), code, status, message, param }
      next = (next + 1) % max
    },
    list: () =>
      [...kept.slice(0, next).toReversed(), ...kept.slice(next).toReversed()].map(
        ({ atMs, message, ...refusal }) => ({
          ...refusal,
          at: new Date(atMs).toISOString(),
          message: withoutTokens(message),
        }),
      ),
  }
}
