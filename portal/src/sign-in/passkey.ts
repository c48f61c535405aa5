// The calls of a passkey: the browser's part loads when it is needed.
import { call } from '../client/call.ts'

/** `isOffered`: the browser suggests passkeys in a field, and waits there until one is chosen. */
export async function signIn(isOffered: boolean): Promise<void> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const optionsJSON = await call('POST /v1/sign-in/options', {})
  const response = await startAuthentication({ optionsJSON, useBrowserAutofill: isOffered })
  await call('POST /v1/sign-in', { body: { response } })
}

/** The person closed the browser's dialog, or a newer one took its place. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name)
