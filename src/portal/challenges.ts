// Challenges of passkeys: each one is answered once, within five minutes, by the browser that it was made for.
import { createHash, randomBytes } from 'node:crypto'
import { fault } from '#contract/errors.ts'
import { CHALLENGE_MINUTES } from '#contract/portal.ts'
import type { KnownReply } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import type { Cookie } from './cookies.ts'
import type { CredentialOptions } from './webauthn.ts'

/** Challenges that wait at once, of all browsers. */
const WAITING_MAX = 20_000
const COOKIE_BYTES = 32

/** The facts that a challenge of each kind keeps for its answer. */
export type ChallengeFacts = {
  'sign-up': { readonly member: string; readonly name?: string; readonly invitation?: string }
  'sign-in': Record<string, never>
  touch: { readonly session: string }
  passkey: { readonly session: string }
}
type Kind = keyof ChallengeFacts

export interface Challenges {
  /** The reply that asks. Throws overloaded. */
  ask<K extends Kind>(
    kind: K,
    options: CredentialOptions,
    facts: ChallengeFacts[K],
  ): Promise<KnownReply>
  /** Uses a challenge up, whatever comes of its answer. Throws challenge_ended. */
  take<K extends Kind>(
    kind: K,
    headers: { readonly cookie?: string | undefined },
  ): Promise<{ readonly challenge: string; readonly facts: ChallengeFacts[K] }>
}

export function createChallenges({
  state,
  cookie,
}: {
  readonly state: State
  readonly cookie: Cookie
}): Challenges {
  return {
    async ask(kind, options, facts) {
      const text = randomBytes(COOKIE_BYTES).toString('base64url')
      const { rowCount } = await state.query(ASK, [
        hashOf(text),
        kind,
        options.challenge,
        JSON.stringify(facts),
        WAITING_MAX,
      ])
      if (rowCount === 0)
        throw fault('overloaded', 'Could not ask for a passkey: too many were asked for', {
          retryAfterS: 10,
        })
      return { kind: 'known', status: 200, headers: cookie.set(text), body: () => options }
    },
    async take<K extends Kind>(kind: K, headers: { readonly cookie?: string | undefined }) {
      const text = cookie.read(headers)
      const { rows } =
        text === undefined
          ? { rows: [] }
          : await state.query<{ challenge: string; facts: ChallengeFacts[K] }>(TAKE, [
              hashOf(text),
              kind,
            ])
      if (rows[0] === undefined)
        throw fault(
          'challenge_ended',
          'Could not accept the passkey: this browser was not asked for one, or has answered',
        )
      return rows[0]
    },
  }
}

const ASK = `insert into passkey_challenges (id, kind, challenge, facts, expires_at)
  select $1, $2, $3, $4, now() + interval '${CHALLENGE_MINUTES} minutes'
  where (select count(*) from (select from passkey_challenges limit $5) waiting) < $5`
const TAKE = `with taken as (
    delete from passkey_challenges where id = $1 and kind = $2 returning challenge, facts, expires_at)
  select challenge, facts from taken where expires_at > now()`

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
