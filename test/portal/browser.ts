// Debian's Chromium for tests of pages: one browser for a file, and in it people, each with a browser profile and an
// authenticator of its own (CDP, domain WebAuthn). Pages need no script of the console: the helpers ask as the console does.
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type CDPSession,
  type Page,
} from 'playwright-core'
import { isSilent, untilHeard } from '../patient-fetch.ts'
import type { Ergon } from '../start-ergon.ts'
import { endTouch } from './client.ts'

/** Draws the window of a browser too, which nobody sees. */
export const CHROMIUM = '/usr/bin/chromium'
/** Draws pages alone: of the file account.test.ts it took 14.3 s of CPU where Chromium took 20.5. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'
const BROWSER = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM
const ARGUMENTS = ['--no-sandbox', '--headless', '--disable-gpu', '--disable-dev-shm-usage']
/** Beside other tests a button of the sign-up took more than a minute. */
const PAGE_TIMEOUT_MS = 150_000
const CLOSE_MS_MAX = 5000

/** A reason to skip the tests that need a browser, or false. */
export const withoutBrowser: string | false =
  !existsSync(BROWSER) && `${HEADLESS_SHELL} is missing: apt-get install chromium-headless-shell`

/** Starts the browser; `await using` closes it. */
export async function openBrowser(executablePath = BROWSER): Promise<Browser> {
  return await chromium.launch({ executablePath, headless: true, args: ARGUMENTS })
}

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string } }
}

export type Person = AsyncDisposable & {
  readonly context: BrowserContext
  readonly page: Page
  readonly cdp: CDPSession
  /** The authenticator of this person's device. */
  readonly authenticator: string
  /** Calls an operation from the page, with its cookies and its origin; again where the state did not answer. */
  ask(method: string, path: string, body?: object): Promise<Answer>
  /** `navigator.credentials.create()` with options of the portal; the answer as JSON. */
  create(options: object): Promise<object>
  /** `navigator.credentials.get()` with options of the portal; the answer as JSON. */
  get(options: object): Promise<object>
  /** Adds another authenticator and returns its id. */
  addAuthenticator(further?: object): Promise<string>
}

/** An answer of the portal that runs nothing: a page of the console would ask for a passkey itself. */
export const QUIET_PAGE = '/v1/session'

/** A new person at the portal: an empty browser profile, an authenticator without passkeys, and a page that is open. */
export async function newPerson(browser: Browser, portalUrl: string, path = '/'): Promise<Person> {
  const context = await browser.newContext()
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  await context.addInitScript({ content: IN_PAGE })
  const page = await context.newPage()
  await page.goto(`${portalUrl}${path}`)
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const addAuthenticator = async (further: object = {}): Promise<string> => {
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
        ...further,
      },
    })
    return authenticatorId
  }
  const call = (name: string, ...given: unknown[]): Promise<unknown> =>
    page.evaluate(`ergonTest.${name}(...${JSON.stringify(given)})`)
  return {
    context,
    page,
    cdp,
    authenticator: await addAuthenticator(),
    addAuthenticator,
    ask: (...given) =>
      untilHeard(
        async () => (await call('ask', ...given)) as Answer,
        ({ status, body }) => !isSilent(status, JSON.stringify(body)),
      ),
    create: async (options) => (await call('create', options)) as object,
    get: async (options) => (await call('get', options)) as object,
    // A page that is closed between two documents keeps Chromium from ending its profile; the browser's end ends it.
    [Symbol.asyncDispose]: () =>
      Promise.race([context.close(), pause(CLOSE_MS_MAX, undefined, { ref: false })]),
  }
}

export type SignedUp = {
  readonly account_id: string
  readonly member_id: string
  readonly recovery_codes: readonly string[]
}

/** Signs up with a passkey; `asked` is the body of POST /v1/sign-up/options. */
export async function signUp(
  person: Person,
  asked: { readonly name: string } | { readonly invitation: string },
): Promise<SignedUp> {
  const options = done(await person.ask('POST', '/v1/sign-up/options', asked), 200)
  const response = await person.create(options)
  const answer = await person.ask('POST', '/v1/sign-up', { response })
  return done(answer, 201) as unknown as SignedUp
}

/** Signs in with any passkey of the authenticator. */
export async function signIn(person: Person): Promise<Record<string, unknown>> {
  const options = done(await person.ask('POST', '/v1/sign-in/options'), 200)
  return done(await person.ask('POST', '/v1/sign-in', { response: await person.get(options) }), 200)
}

/** Uses the passkey again: operations that need a fresh touch are answered for five minutes. */
export async function touch(person: Person): Promise<Record<string, unknown>> {
  const options = done(await person.ask('POST', '/v1/session/touch/options'), 200)
  const response = await person.get(options)
  return done(await person.ask('POST', '/v1/session/touch', { response }), 200)
}

/** Ends the touches of the person, as five minutes do. */
export async function endTouchOf(person: Person, ergon: Ergon): Promise<void> {
  const { member } = done(await person.ask('GET', '/v1/session'), 200)
  await endTouch(ergon, (member as { id: string }).id)
}

/** The body of an answer of this status; throws with the text of any other. */
export function done({ status, body }: Answer, expected: number): Record<string, unknown> {
  if (status !== expected)
    throw new Error(`${status} in place of ${expected}: ${JSON.stringify(body)}`)
  return body
}

// Text, as it runs in the page: there are no types of the DOM here.
const IN_PAGE = `window.ergonTest = {
  async ask(method, path, body) {
    const answer = await fetch(path, {
      method,
      ...(body === undefined ? {} : {
        headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, headers: Object.fromEntries(answer.headers),
      body: isJson ? JSON.parse(text) : { text } }
  },
  async create(options) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
    return (await navigator.credentials.create({ publicKey })).toJSON()
  },
  async get(options) {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
    return (await navigator.credentials.get({ publicKey })).toJSON()
  },
}`
