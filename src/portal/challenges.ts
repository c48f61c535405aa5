// Challenges of passkeys: each one is answered once, within five minutes, by the browser that it was made for.
import { createHash, randomBytes } from 'node:crypto'
import { fault } from '#contract/errors.ts'
import { CHALLENGE_MINUTES } from '#contract/portal/portal.ts'
import type { KnownReply } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import type { Cookie } from './cookies.ts'
import { askerText, demandShare, type WaitingAsker } from './waiting.ts'
import type { CredentialOptions } from './webauthn.ts'

const COOKIE_BYTES = 32
const COOKIE_FORM = /^[\w-]{43}$/

/** The facts that a challenge of each kind keeps for its answer. */
export type ChallengeFacts = {
  'sign-up': {
    readonly member: string
    readonly name?: string
    /** The hash of its code, as hex: a reader of the state gets no code that lets in. */
    readonly invitationHash?: string
  }
  'sign-in': Record<string, never>
  touch: { readonly session: string }
  passkey: { readonly session: string }
}
type Kind = keyof ChallengeFacts

type Headers = { readonly cookie?: string | undefined }

export interface Challenges {
  /** The reply that asks for a passkey. Throws as demandShare() does. */
  ask<K extends Kind>(
    kind: K,
    call: { readonly headers: Headers },
    asked: {
      readonly asker: WaitingAsker
      readonly options: CredentialOptions
      readonly facts: ChallengeFacts[K]
    },
  ): Promise<KnownReply>
  /** Uses the challenge of an answer up, whatever comes of the answer. Throws challenge_ended. */
  take<K extends Kind>(
    kind: K,
    call: { readonly headers: Headers; readonly body: { readonly response: CredentialAnswer } },
  ): Promise<{ readonly challenge: string; readonly facts: ChallengeFacts[K] }>
}

type CredentialAnswer = { readonly response: { readonly clientDataJSON: string } }

export function createChallenges({
  state,
  cookie,
}: {
  readonly state: State
  readonly cookie: Cookie
}): Challenges {
  return {
    async ask(kind, { headers }, { asker, options, facts }) {
      await demandShare(state, 'passkeys', asker)
      // A browser keeps its text: several of its pages may ask at once.
      const browser = browserOf(cookie, headers) ?? randomBytes(COOKIE_BYTES).toString('base64url')
      await state.query(ASK, [
        options.challenge,
        hashOf(browser),
        kind,
        JSON.stringify(facts),
        askerText(asker),
      ])
      return { kind: 'known', status: 200, headers: cookie.set(browser), body: () => options }
    },
    async take<K extends Kind>(
      kind: K,
      {
        headers,
        body,
      }: { readonly headers: Headers; readonly body: { readonly response: CredentialAnswer } },
    ) {
      const browser = browserOf(cookie, headers)
      const challenge = challengeOf(body.response)
      const { rows } =
        browser === undefined || challenge === undefined
          ? { rows: [] }
          : await state.query<{ facts: ChallengeFacts[K] }>(TAKE, [
              challenge,
              hashOf(browser),
              kind,
            ])
      if (challenge === undefined || rows[0] === undefined)
        throw fault(
          'challenge_ended',
          'Could not accept the passkey: this browser was not asked for it, or has answered',
        )
      return { challenge, facts: rows[0].facts }
    },
  }
}

const ASK = `insert into passkey_challenges (challenge, browser, kind, facts, asker, expires_at)
  values ($1, $2, $3, $4, $5, now() + interval '${CHALLENGE_MINUTES} minutes')`
const TAKE = `with taken as (
    delete from passkey_challenges where challenge = $1 and browser = $2 and kind = $3 returning facts, expires_at)
  select facts from taken where expires_at > now()`

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

function browserOf(cookie: Cookie, headers: Headers): string | undefined {
  const text = cookie.read(headers)
  return text !== undefined && COOKIE_FORM.test(text) ? text : undefined
}

/** The challenge that an answer names; whether it has signed that one is checked with the signature. */
function challengeOf({ response }: CredentialAnswer): string | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString())
    const { challenge } = json as { readonly challenge?: unknown }
    return typeof challenge === 'string' && !challenge.includes('\0') ? challenge : undefined
  } catch {
    return undefined
  }
}
