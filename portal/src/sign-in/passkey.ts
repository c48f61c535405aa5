// The calls of a passkey: the browser's part loads when it is needed. Each throws Problem, or the browser's refusal.
import { call } from '#console/client/call.ts'
import type { Passkey, SignedUp } from '#console/client/operations.ts'

const browser = () => import('@simplewebauthn/browser')

/** Makes an account, or joins one by an invitation, with a new passkey. */
export async function signUp(
  who: { readonly name: string } | { readonly invitation: string },
): Promise<SignedUp> {
  const { startRegistration } = await browser()
  const optionsJSON = await call('POST /v1/sign-up/options', { body: who })
  const response = await startRegistration({ optionsJSON })
  return await call('POST /v1/sign-up', { body: { response } })
}

/**
 * With `offer` the browser suggests passkeys in a field, and waits there until one is chosen. An offer that was ended before
 * is not made: it would end the dialog that is open. Its request ends with it: on a first visit each answer sets a cookie,
 * and a late answer to the offer would replace the cookie of the dialog.
 */
export async function signIn(offer?: AbortSignal): Promise<void> {
  const { startAuthentication } = await browser()
  const optionsJSON = await call(
    'POST /v1/sign-in/options',
    offer === undefined ? {} : { signal: offer },
  )
  offer?.throwIfAborted()
  const useBrowserAutofill = offer !== undefined
  const response = await startAuthentication({ optionsJSON, useBrowserAutofill })
  await call('POST /v1/sign-in', { body: { response } })
}

export async function addPasskey(name: string): Promise<Passkey> {
  const { startRegistration } = await browser()
  const optionsJSON = await call('POST /v1/passkeys/options', {})
  const response = await startRegistration({ optionsJSON })
  return await call('POST /v1/passkeys', { body: { response, name } })
}
