// The limit of requests that one account runs at once in this process. Without the limit one account could take
// every connection to the state, at no risk to itself. inference/shares.ts limits an account's calls of models.
import { fault } from '#contract/errors.ts'

export const ACCOUNT_REQUESTS_MAX = 256
const RETRY_AFTER_S = 1
// Each waits for a tick of every gateway, and costs no more than the refusal in its place: 4 ms of CPU.
const UNPAID_MAX = 4

export interface AccountLoad {
  /** Counts a request until the function that it returns is called, once. Throws too_many_requests. */
  enter(account: string): () => void
  /** The same of a stranger for whom the account pays: half as many, which take nothing of its own. */
  enterStranger(account: string): () => void
  /** A few more requests that the account cannot pay: the operator pays for each. */
  enterUnpaid(account: string): () => void
}

/** `noun` names the counted thing, for the refusal. */
export function createAccountLoad(requestsMax: number, noun = 'requests'): AccountLoad {
  const strangersMax = Math.ceil(requestsMax / 2)
  const own = new Map<string, number>()
  const strangers = new Map<string, number>()
  const unpaid = new Map<string, number>()
  return {
    enter: (account) => enter(own, account, { max: requestsMax, noun }),
    enterStranger: (account) => enter(strangers, account, { max: strangersMax, noun }),
    enterUnpaid: (account) => enter(unpaid, account, { max: UNPAID_MAX, noun }),
  }
}

function enter(
  running: Map<string, number>,
  account: string,
  { max, noun }: { readonly max: number; readonly noun: string },
): () => void {
  const count = running.get(account) ?? 0
  if (count >= max)
    throw fault(
      'too_many_requests',
      `Could not take the request: ${count} ${noun} of this account are running`,
      { retryAfterS: RETRY_AFTER_S },
    )
  running.set(account, count + 1)
  return () => {
    const left = (running.get(account) ?? 1) - 1
    if (left > 0) running.set(account, left)
    else running.delete(account)
  }
}
