// The landing page's only script: the passkey of a new account, and the browser's suggestion to sign in.
import { memberChanged, tellOtherTabs } from '#console/client/entered.ts'
import { isCancelled } from '#console/client/problem.ts'
import { signIn, signUp } from '#console/sign-in/passkey.ts'
import { applyTheme } from '#console/parts/browser/settings.ts'
import { showAsked } from './asked.ts'
import { beginWith } from '#console/sign-up/progress.ts'

applyTheme()
// The page is whole without it.
void showAsked().catch(() => undefined)
const offer = new AbortController()
void suggestPasskey()

element('join').addEventListener('submit', (event) => {
  event.preventDefault()
  const name = element<HTMLInputElement>('name').value.trim()
  void attempt(async () => {
    const { recovery_codes } = await signUp({ name })
    beginWith(recovery_codes)
    tellOtherTabs()
    location.assign('/sign-up')
  })
})
// Pressed before, the button would have the browser send the form, and make no account.
element<HTMLButtonElement>('create').disabled = false

element('sign-in').addEventListener('click', (event) => {
  event.preventDefault()
  void attempt(async () => {
    await signIn()
    memberChanged('/')
  })
})

/** The browser offers passkeys in the field of the name, where it can. */
async function suggestPasskey(): Promise<void> {
  if (!(await window.PublicKeyCredential?.isConditionalMediationAvailable?.())) return
  try {
    await signIn(offer.signal)
    memberChanged('/')
  } catch {
    // The offer ends without a word: a button was used instead, or the service asked too often.
  }
}

async function attempt(act: () => Promise<void>): Promise<void> {
  offer.abort()
  const result = element('join-result')
  const say = (text: string, isBad: boolean) => {
    result.textContent = text
    result.classList.toggle('bad', isBad)
  }
  say('Your device asks for your finger, face or PIN.', false)
  try {
    await act()
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (isCancelled(error)) say('Nothing was chosen. Try again when you are ready.', false)
    else say(text, true)
  }
}

function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.querySelector<Kind>(`#${id}`)
  if (found === null) throw new TypeError(`The page has no #${id}`)
  return found
}
