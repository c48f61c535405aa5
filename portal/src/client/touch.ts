// Operations that need a fresh touch of the passkey: asked once, touched, and asked again.
import { call } from './call.ts'
import { isProblem } from './problem.ts'

/** Does `act`; where a touch is needed the browser asks for it, and `act` is done again. Throws Problem. */
export async function withTouch<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    if (!isProblem(error, 'touch_required')) throw error
    await touch()
    return await act()
  }
}

async function touch(): Promise<void> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const optionsJSON = await call('POST /v1/session/touch/options', {})
  const response = await startAuthentication({ optionsJSON })
  await call('POST /v1/session/touch', { body: { response } })
}
