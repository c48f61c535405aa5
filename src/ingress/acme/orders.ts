// Orders of certificates at an authority, by the package acme-client. No other file knows it.
import type * as Undici from 'undici'
import type { axios as Axios } from 'acme-client'
import { messageOf } from '#base/errors.ts'
import type { Pair } from '#node/certificate-pair.ts'
import type { AcmeSettings } from './acme-settings.ts'
import type { ChallengePages } from './challenge-pages.ts'

export interface Orders {
  /** A new key and its certificate. Throws AuthorityAway, and an Error with the message of the authority. */
  order(host: string): Promise<Pair>
}

/** The authority does not answer: that says nothing of the name. */
export class AuthorityAway extends Error {}

const CALL_MS = 30_000
/** The authority looks at the page, and signs, between two looks of ours. */
const LOOKS_MAX = 20
const LOOK_MS = 1000
const LOOK_MS_MAX = 8000
const CURVE = 'P-256'
const HTTP = 'http-01'
const SERVER_FAULT = 500
const ANSWER_BYTES_MAX = 1_000_000

/** A new key of an account, in PEM. */
export async function newAccountKey(): Promise<string> {
  const { crypto } = await import('acme-client')
  return String(await crypto.createPrivateEcdsaKey(CURVE))
}

export async function openOrders(
  { directory, email, roots }: AcmeSettings,
  { accountKey, challenges }: { readonly accountKey: string; readonly challenges: ChallengePages },
): Promise<Orders> {
  // With their imports they take 22 MB of memory, so an ingress without ACME does not load them.
  const { axios, Client, crypto } = await import('acme-client')
  axios.defaults.adapter = callerOf(await import('undici'), roots)
  const client = new Client({
    directoryUrl: directory,
    accountKey,
    backoffAttempts: LOOKS_MAX,
    backoffMin: LOOK_MS,
    backoffMax: LOOK_MS_MAX,
  })
  return {
    async order(host) {
      const shown = new Map<string, Disposable>()
      const [key, csr] = await crypto.createCsr(
        { altNames: [host] },
        await crypto.createPrivateEcdsaKey(CURVE),
      )
      const cert = await client.auto({
        csr,
        email,
        termsOfServiceAgreed: true,
        challengePriority: [HTTP],
        // Our own look would call an address that an account chose.
        skipChallengeVerification: true,
        async challengeCreateFn(_authorization, { type, token }, text) {
          if (type !== HTTP) throw new TypeError(`the authority offers no ${HTTP}: ${type}`)
          shown.set(token, challenges.show(host, token, text))
        },
        challengeRemoveFn: async (_authorization, { token }) =>
          shown.get(token)?.[Symbol.dispose](),
      })
      return { cert, key: String(key) }
    },
  }
}

type Adapter = Extract<(typeof Axios)['defaults']['adapter'], (...given: never) => unknown>

/**
 * The calls of acme-client. Its own way has no limit of time, tries again for minutes, and loses the error of a connection
 * (version 5.4.0: `response` of undefined).
 */
function callerOf({ Agent, request }: typeof Undici, roots: string | undefined): Adapter {
  const agent = new Agent({
    connect: roots === undefined ? {} : { ca: roots },
    maxResponseSize: ANSWER_BYTES_MAX,
  })
  return async (config) => {
    try {
      const answer = await request(config.url ?? '', {
        method: (config.method ?? 'GET').toUpperCase() as Undici.Dispatcher.HttpMethod,
        headers: config.headers.toJSON() as Record<string, string>,
        body: (config.data as string | undefined) ?? null,
        dispatcher: agent,
        signal: AbortSignal.timeout(CALL_MS),
      })
      const data = await answer.body.text()
      const { statusCode: status, headers } = answer
      if (status >= SERVER_FAULT) throw new AuthorityAway(`status ${status}`)
      return { status, statusText: '', headers: headers as Record<string, string>, data, config }
    } catch (cause) {
      throw cause instanceof AuthorityAway ? cause : new AuthorityAway(messageOf(cause), { cause })
    }
  }
}
