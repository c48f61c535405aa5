// The console in a browser when something fails on the way: an answer is lost, a page is left, a sign-in ends.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page, Request } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { MODELS } from '../settings.ts'
import { done, newPerson, openBrowser, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { buildConsole } from './console-build.ts'
import {
  HELD_OFFERS,
  HELD_PASSKEY,
  LATE_STATE,
  OFFER_SETTLED,
  OFFERS_AS_BEFORE,
  SHORT_SESSION,
} from './delays.ts'
import { pressButton, signUpByPages } from './walk.ts'

const CHAT = '**/v1/chat/completions'
/** Above the size that goes in parts. */
const LARGE_BYTES = 17 * 2 ** 20
/** CompleteMultipartUpload may begin its answer as 200 before it knows the end. */
const ERROR_IN_200 = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>InternalError</Code><Message>The parts could not be joined.</Message></Error>`
const isOffer = (request: Request): boolean => request.url().endsWith('/v1/sign-in/options')

/** Resolves when the request of the next offer is answered or given up. */
const endOfOffer = (page: Page): Promise<unknown> =>
  Promise.race([
    page.waitForEvent('requestfinished', { predicate: isOffer }),
    page.waitForEvent('requestfailed', { predicate: isOffer }),
  ])

product(MODELS)

describe('the console when something fails', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(buildConsole)
  before(async () => (browser = await openBrowser()))
  after(() => browser.close())
  const portal = () => String(sharedErgon().ready['portal_url'])

  test('a link for one person tells a signed-in member so, and a finished sign-up leads on', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    await signUp(ada, { name: 'signed in' })
    const who = { name: 'Bob', role: 'viewer' }
    const { invitation_code: code } = done(await ada.ask('POST', '/v1/members', who), 201)
    await page.evaluate(`localStorage.setItem('ergon.sign-up', 'done')`)
    await page.goto(`${portal()}/sign-up#${String(code)}`)
    await page.getByText('Sign out to use this link').waitFor()
    await page.goto(`${portal()}/tokens`)
    await page.goto(`${portal()}/sign-up`)
    await page.waitForURL(`${portal()}/`)
    await page.goto(`${portal()}/sign-up#${String(code)}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You become the member Bob').waitFor()
  })

  test('a tab that nobody uses does not move the end of its sign-in; a key does', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    await signUp(ada, { name: 'forgetful' })
    await page.addInitScript({ content: SHORT_SESSION })
    await page.goto(`${portal()}/tokens`)
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    const before = Number(await page.evaluate('reads'))
    await page.getByText('Your sign-in ends in').waitFor()
    assert.equal(await page.evaluate('reads'), before)
    await page.evaluate('leftMs = 3_600_000')
    await page.keyboard.press('Shift')
    await page.getByText('Your sign-in ends in').waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('reads'), before + 1)
  })

  test('the button of a sign-up waits for the script of its page', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/landing*.js', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.goto(portal(), { waitUntil: 'commit' })
    const button = page.getByRole('button', { name: 'Create a passkey' })
    assert.ok(await button.isDisabled())
    await page.locator('#name').fill('slow-script')
    await page.keyboard.press('Enter')
    held.resolve()
    await button.click()
    await page.getByRole('heading', { name: 'Keep these ten codes' }).waitFor()
  })

  test('a page shows its frame, and that it loads, before its script has come', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    await signUp(ada, { name: 'slow network' })
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.goto(`${portal()}/tokens`, { waitUntil: 'commit' })
    const loading = page.getByRole('progressbar', { name: 'Loading the console' })
    await loading.waitFor()
    await page.getByText('It comes by itself').waitFor()
    assert.equal(
      await page.evaluate("getComputedStyle(document.querySelector('.frame')).display"),
      'grid',
    )
    held.resolve()
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    assert.equal(await loading.count(), 0)
  })

  test('an offer of passkeys that comes late ends no sign-up', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    const held = Promise.withResolvers<void>()
    await page.route('**/v1/sign-in/options', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.addInitScript({ content: HELD_PASSKEY })
    const offerEnded = endOfOffer(page)
    await page.goto(portal())
    await page.locator('#name').fill('late-offer')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.evaluate('passkeyAsked')
    held.resolve()
    await offerEnded
    await page.evaluate(OFFER_SETTLED)
    await page.evaluate('makePasskey()')
    await page.getByRole('heading', { name: 'Keep these ten codes' }).waitFor()
  })

  test('an offer of passkeys that the service answers late does not end the cookie of a sign-up', async (t) => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    const ergon = sharedErgon()
    await ergon.sql(HELD_OFFERS)
    t.after(() => ergon.sql(OFFERS_AS_BEFORE))
    await page.addInitScript({ content: HELD_PASSKEY })
    const asked = page.waitForRequest(isOffer)
    const offerEnded = endOfOffer(page)
    await page.goto(portal())
    await asked
    await page.locator('#name').fill('late-answer')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.evaluate('passkeyAsked')
    await ergon.sql('delete from offers_held')
    await offerEnded
    await page.evaluate('makePasskey()')
    await page.getByRole('heading', { name: 'Keep these ten codes' }).waitFor()
  })

  test('a sign-up that cannot read its session says so, and goes on when asked', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    let isAway = true
    await page.route('**/v1/session', async (route) => {
      if (isAway) await route.fulfill({ status: 503, headers: { 'retry-after': '0' }, body: '{}' })
      else await route.continue()
    })
    await page.locator('#name').fill('no-session')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('.note', { hasText: 'Your sign-in does not answer' }).waitFor()
    await page.locator('.note', { hasNotText: 'by itself' }).waitFor()
    isAway = false
    await page.getByRole('button', { name: 'Ask now' }).click()
    await page.getByRole('heading', { name: 'Keep these ten codes' }).waitFor()
  })

  test('a request whose answer was lost has the same key when it is sent again', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    const keys: (string | undefined)[] = []
    await ada.page.route(CHAT, async (route) => {
      keys.push(route.request().headers()['idempotency-key'])
      if (keys.length === 1) await route.abort()
      else await route.continue()
    })
    await ada.page.getByRole('button', { name: 'Ask from here' }).click()
    await ada.page.getByText('The service does not answer').waitFor()
    await ada.page.getByRole('button', { name: 'Ask from here' }).click()
    await ada.page.getByRole('link', { name: 'See its receipt' }).waitFor()
    assert.match(keys[0] ?? '', /^[\w-]{36}$/)
    assert.deepEqual(keys, [keys[0], keys[0]])
  })

  test('an answer of the playground is stopped when the page is left', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    await pressButton(ada.page, 'Later')
    await ada.page.getByRole('link', { name: 'Playground' }).first().click()
    await ada.page.route(CHAT, () => undefined)
    await ada.page.getByLabel('Message').fill('Hello')
    const asked = ada.page.waitForRequest(CHAT)
    await ada.page.keyboard.press('Enter')
    await asked
    const stopped = ada.page.waitForEvent('requestfailed', (request) =>
      request.url().endsWith('/v1/chat/completions'),
    )
    await ada.page.getByRole('link', { name: 'Ledger' }).first().click()
    await stopped
  })

  test('a page that cannot be read while the service is away comes by itself, with its style', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada)
    await page.goto(`${portal()}/more`)
    await page.getByRole('heading', { name: 'All pages' }).waitFor()
    let isAway = true
    for (const path of ['**/assets/**', '**/'])
      await page.route(path, (route) => (isAway ? route.abort() : route.continue()))
    await page.getByRole('link', { name: 'Tokens' }).first().click()
    await page.getByText('This page does not answer yet').waitFor()
    assert.equal(await page.getByText('This page failed').count(), 0)
    await page.getByRole('link', { name: 'Ledger' }).first().waitFor()
    isAway = false
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    await page.locator('table.tokens .hint').first().waitFor()
    const display = "getComputedStyle(document.querySelector('.tokens .hint')).display"
    assert.equal(await page.evaluate(display), 'flex')
  })

  test('the address to sign in leads to the overview, and a link that ended to that address', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada)
    await ada.context.clearCookies()
    await page.goto(`${portal()}/sign-up#inv_${'a'.repeat(38)}`)
    await page.getByText('no such code').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create a passkey' }).count(), 0)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Use your passkey' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  test('a member without the role is told who gives it, and nothing of tokens', async () => {
    const { account, control } = sharedErgon()
    const { invitation_code: invitation } = await control('member.invite', {
      account,
      name: 'reader',
      role: 'viewer',
    })
    await using eve = await newPerson(browser, portal(), QUIET_PAGE)
    await signUp(eve, { invitation })
    await eve.page.goto(`${portal()}/balance`)
    await eve.page.getByLabel('Code of a voucher').fill('2kdq-8w3v-aaaa-bbbb')
    await eve.page.getByRole('button', { name: 'Redeem' }).click()
    const note = eve.page.locator('.note.bad', { hasText: 'You may not do this.' })
    await note.getByText('An owner or admin can change your role').waitFor()
    assert.doesNotMatch((await note.textContent()) ?? '', /token/)
  })

  test('a page that waits for its live stream finds that its sign-in has ended', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    await ada.page.route('**/v1/live*', (route) => route.abort())
    await ada.page.goto(`${portal()}/more`)
    await ada.page.getByRole('heading', { name: 'All pages' }).waitFor()
    await ada.context.clearCookies()
    await ada.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('a tab that hears a change before the state of the other tab shows both', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    await ada.page.goto(portal())
    await ada.page.getByText('test money, nothing is owed').waitFor()
    const second = await ada.context.newPage()
    await second.addInitScript({ content: LATE_STATE })
    await second.goto(`${portal()}/more`)
    // A charge is a change, which the first tab tells.
    await second.evaluate('changed')
    await second.getByText('test money, nothing is owed').waitFor()
  })

  test('a sign-in that has ended is asked for again, and leads back to the page', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    await ada.page.route('**/v1/live*', (route) => route.abort())
    await ada.page.goto(`${portal()}/tokens`)
    await ada.page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    await ada.context.clearCookies()
    await ada.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await ada.page.getByRole('button', { name: 'Use your passkey' }).click()
    await ada.page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    assert.equal(new URL(ada.page.url()).pathname, '/tokens')
  })

  test('an upload in parts whose end is an error in a 200 has failed, and goes on from there', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { page } = ada
    await signUp(ada, { name: 'uploads' })
    await page.evaluate(`fetch('/s3/joined-parts', { method: 'PUT' })`)
    const ends = '**/s3/joined-parts/film.bin?uploadId=*'
    await page.route(ends, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 200, contentType: 'application/xml', body: ERROR_IN_200 })
        : route.continue(),
    )
    await page.goto(`${portal()}/storage/joined-parts/`)
    const buffer = Buffer.alloc(LARGE_BYTES)
    const file = { name: 'film.bin', mimeType: 'application/octet-stream', buffer }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('film.bin was not uploaded').waitFor()
    await page.getByText('The parts could not be joined').waitFor()
    assert.equal(await page.locator('tr', { hasText: 'film.bin' }).count(), 0)
    await page.unroute(ends)
    await pressButton(page, 'Go on')
    await page.locator('tr', { hasText: 'film.bin' }).waitFor()
  })

  test('another member who signs in sees nothing of the one before, in any tab', async () => {
    await using ada = await newPerson(browser, portal())
    const { page, cdp, authenticator: authenticatorId } = ada
    await signUpByPages(ada, 'account-of-bob')
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    const [ofBob] = credentials
    assert.ok(ofBob !== undefined)
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId })
    await ada.context.clearCookies()
    await page.evaluate('localStorage.clear()')
    await page.goto(portal())
    await signUpByPages(ada, 'account-of-ada')
    done(await ada.ask('POST', '/v1/tokens', { name: 'token-of-ada', scope: 'read' }), 201)
    await page.route('**/v1/live*', (route) => route.abort())
    await page.goto(`${portal()}/tokens`)
    await page.getByText('token-of-ada').waitFor()
    await page.getByRole('link', { name: 'Webhooks' }).first().click()
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
    const beside = await ada.context.newPage()
    await beside.goto(`${portal()}/tokens`)
    await beside.getByText('token-of-ada').waitFor()
    await ada.context.clearCookies()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId })
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: ofBob })
    // Tokens that are shown without an answer were known before.
    await page.route('**/v1/tokens*', (route) => route.abort())
    await page.getByRole('button', { name: 'Use your passkey' }).click()
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
    await page.getByText('account-of-bob').first().waitFor()
    await page.getByRole('link', { name: 'Tokens' }).first().click()
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    assert.equal(await page.getByText('token-of-ada').count(), 0)
    await beside.getByText('account-of-bob').first().waitFor()
    assert.equal(await beside.getByText('token-of-ada').count(), 0)
  })
})
